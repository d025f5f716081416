// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SearchAsYouType",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "SearchAsYouType",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"),
                .product(name: "DeferredTesting", package: "Deferred"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
