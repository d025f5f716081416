// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CodeHost",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../..")
    ],
    targets: [
        .target(
            name: "CodeHost",
            dependencies: [.product(name: "Deferred", package: "Deferred")]
        ),
        .testTarget(
            name: "CodeHostTests",
            dependencies: ["CodeHost", .product(name: "DeferredTesting", package: "Deferred")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
