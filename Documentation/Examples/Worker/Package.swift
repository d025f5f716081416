// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Worker",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "Worker",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "DeferredTesting", package: "Deferred"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
