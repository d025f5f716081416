// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Services",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../..")
    ],
    targets: [
        .target(
            name: "Services",
            dependencies: [.product(name: "Deferred", package: "Deferred")]
        ),
        .executableTarget(
            name: "RunServices",
            dependencies: ["Services"]
        ),
        .testTarget(
            name: "ServicesTests",
            dependencies: ["Services", .product(name: "DeferredTesting", package: "Deferred")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
