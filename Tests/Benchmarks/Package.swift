// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../.."),
        .package(path: "../../Documentation/Examples/AsyncHTTPClientLoader"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/google/swift-benchmark", from: "0.1.2"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "Tables",
                "footprint",  // Run, not linked: named here so that `swift run benchmarks` builds it too.
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Benchmark", package: "swift-benchmark"),
            ]
        ),
        // A separate process for each subject, so that memory is counted from a clean start.
        .executableTarget(
            name: "footprint",
            dependencies: [
                "AllocationCounter",
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ]
        ),
        // HTTP requests, over URLSession and over async-http-client.
        .executableTarget(
            name: "requests",
            dependencies: [
                "Tables",
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "DeferredAsyncHTTPClient", package: "AsyncHTTPClientLoader"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
        // Hits and validations of an HTTP cache, in memory and on disk.
        .executableTarget(
            name: "caching",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"), .product(name: "DeferredTesting", package: "Deferred"),
            ]
        ),
        .target(name: "AllocationCounter"),
        .target(name: "Tables"),
    ],
    swiftLanguageModes: [.v6]
)
