// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Field",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Deferred", path: "../..")],
    targets: [
        .executableTarget(
            name: "field",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"),
                // Run, not linked: named here so that it is built too.
                .product(name: "fetch", package: "Deferred"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
