// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "AsyncHTTPClientLoader",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "DeferredAsyncHTTPClient", targets: ["DeferredAsyncHTTPClient"])
    ],
    dependencies: [
        .package(name: "Deferred", path: "../../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        .target(
            name: "DeferredAsyncHTTPClient",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .testTarget(
            name: "DeferredAsyncHTTPClientTests",
            dependencies: [
                "DeferredAsyncHTTPClient",
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "DeferredTesting", package: "Deferred"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
