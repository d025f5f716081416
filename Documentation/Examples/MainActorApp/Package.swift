// swift-tools-version: 6.2
import PackageDescription

/// What new apps have: all that doesn't say otherwise is on the main actor, and so are conformances.
let onMainActor: [SwiftSetting] = [.defaultIsolation(MainActor.self)]

let package = Package(
    name: "MainActorApp",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Deferred", path: "../../..")
    ],
    targets: [
        .target(
            name: "Profile",
            dependencies: [.product(name: "Deferred", package: "Deferred")],
            swiftSettings: onMainActor + [.swiftLanguageMode(.v6)]
        ),
        // The same file, as Swift 5.
        .target(
            name: "ProfileInSwift5",
            dependencies: [.product(name: "Deferred", package: "Deferred")],
            swiftSettings: onMainActor + [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "ProfileTests",
            dependencies: [
                "Profile", "ProfileInSwift5", .product(name: "DeferredTesting", package: "Deferred"),
            ],
            swiftSettings: onMainActor
        ),
    ],
    swiftLanguageModes: [.v6]
)
