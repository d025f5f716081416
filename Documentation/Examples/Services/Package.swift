// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Services",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
    ],
    targets: [
        .target(
            name: "Services",
            dependencies: [
                .product(name: "Deferred", package: "Deferred"), .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .executableTarget(
            name: "RunServices",
            dependencies: ["Services", .product(name: "DeferredTesting", package: "Deferred")]
        ),
        .testTarget(
            name: "ServicesTests",
            dependencies: ["Services", .product(name: "DeferredTesting", package: "Deferred")],
            exclude: ["Recordings"]
        ),
    ],
    swiftLanguageModes: [.v6]
)
