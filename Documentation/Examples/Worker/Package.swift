// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Worker",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "Worker",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "DeferredTesting", package: "Deferred"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
