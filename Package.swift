// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Deferred",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(
            name: "Deferred",
            targets: ["Deferred", "DeferredCore", "DeferredTask", "DeferredNetworking"]
        ),
        .library(name: "DeferredTesting", targets: ["DeferredTesting"]),
        .executable(name: "fetch", targets: ["fetch"]),
    ],
    dependencies: [],
    targets: [
        .target(name: "DeferredCore"),
        .target(name: "DeferredTask", dependencies: ["DeferredCore"]),
        .target(name: "DeferredNetworking", dependencies: ["DeferredCore", "DeferredTask"]),
        .target(name: "DeferredTesting"),
        .target(name: "Deferred", dependencies: ["DeferredCore", "DeferredTask", "DeferredNetworking"]),
        .executableTarget(name: "fetch", dependencies: ["Deferred", "DeferredTesting"]),

        .testTarget(name: "DeferredCoreTests", dependencies: ["DeferredCore"]),
        .testTarget(name: "DeferredTaskTests", dependencies: ["DeferredCore", "DeferredTask"]),
        .testTarget(
            name: "DeferredNetworkingTests",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredTesting"]
        ),
        .testTarget(name: "DeferredTestingTests", dependencies: ["DeferredTesting"]),
        .testTarget(name: "DeferredTests", dependencies: ["Deferred", "DeferredTesting"]),
        .testTarget(name: "fetchTests", dependencies: ["fetch", "Deferred", "DeferredTesting"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
