// swift-tools-version: 6.2
import PackageDescription

// What Apple asks of libraries for apps. Elsewhere it would be copied beside every program.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if canImport(Darwin)
let (networkingResources, networkingExclusions): ([Resource], [String]) = ([.copy(privacyManifest)], [])
#else
let (networkingResources, networkingExclusions): ([Resource], [String]) = ([], [privacyManifest])
#endif

let package = Package(
    name: "Deferred",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(
            name: "Deferred",
            targets: [
                "Deferred", "DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP", "DeferredCache",
            ]
        ),
        // These two don't link the network.
        .library(name: "DeferredCore", targets: ["DeferredCore"]),
        .library(name: "DeferredTask", targets: ["DeferredTask"]),
        .library(name: "DeferredTesting", targets: ["DeferredTesting"]),
        .library(name: "DeferredCompatibility", targets: ["DeferredCompatibility"]),
        .executable(name: "fetch", targets: ["fetch"]),
    ],
    dependencies: [],
    targets: [
        .target(name: "CDeferred"),
        .target(name: "DeferredCore", dependencies: ["CDeferred"]),
        .target(name: "DeferredTask", dependencies: ["DeferredCore"]),
        .target(
            name: "DeferredNetworking",
            dependencies: [
                "DeferredCore", "DeferredTask", .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            exclude: networkingExclusions,
            resources: networkingResources
        ),
        .target(name: "CLibcurl"),
        .target(name: "DeferredHTTP", dependencies: ["DeferredCore", "DeferredTask", "DeferredNetworking"]),
        .target(
            name: "DeferredCache",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP"]
        ),
        .target(
            name: "DeferredCompatibility",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredHTTP"]
        ),
        .target(
            name: "DeferredTesting",
            dependencies: ["CDeferred", "DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP"]
        ),
        .target(
            name: "Deferred",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP", "DeferredCache"]
        ),
        // As any user of the package: what is not public, it does not see.
        .executableTarget(name: "fetch", dependencies: ["Deferred", "DeferredTesting"], packageAccess: false),

        .target(
            name: "TestSupport",
            dependencies: ["DeferredCore", "DeferredHTTP", "DeferredTesting"],
            path: "Tests/TestSupport"
        ),
        .testTarget(name: "DeferredCoreTests", dependencies: ["DeferredCore", "DeferredTesting", "TestSupport"]),
        .testTarget(
            name: "DeferredTaskTests",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredTesting", "TestSupport"]
        ),
        .testTarget(
            name: "CompositionTests",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredTesting", "TestSupport"]
        ),
        .testTarget(
            name: "DeferredNetworkingTests",
            dependencies: [
                "DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredTesting", "TestSupport",
                .target(name: "CLibcurl", condition: .when(platforms: [.linux])),
            ],
            exclude: ["Fuzz/Recorded"]
        ),
        .testTarget(
            name: "DeferredHTTPTests",
            dependencies: [
                "DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP", "DeferredCache",
                "DeferredTesting", "TestSupport",
            ]
        ),
        .testTarget(
            name: "DeferredCacheTests",
            dependencies: [
                "DeferredCore", "DeferredTask", "DeferredNetworking", "DeferredHTTP", "DeferredCache",
                "DeferredTesting", "TestSupport",
            ]
        ),
        .testTarget(
            name: "DeferredTestingTests",
            dependencies: ["DeferredCore", "DeferredTask", "DeferredHTTP", "DeferredTesting", "TestSupport"]
        ),
        .testTarget(
            name: "DeferredCompatibilityTests",
            dependencies: ["Deferred", "DeferredCompatibility", "DeferredTesting", "TestSupport"]
        ),
        .testTarget(
            name: "SnippetTests",
            dependencies: ["Deferred", "DeferredCompatibility", "DeferredTesting", "TestSupport"]
        ),
        .testTarget(name: "DeferredTests", dependencies: ["Deferred", "DeferredTesting", "TestSupport"]),
        .testTarget(name: "fetchTests", dependencies: ["fetch", "Deferred", "DeferredTesting", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// TEST_TARGETS=DeferredTaskTests,CompositionTests swift test: builds these test targets and no others.
if let named = Context.environment["TEST_TARGETS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !named.contains($0.name) }
}

for target in package.targets where !["CDeferred", "CLibcurl"].contains(target.name) {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
// What the documents show must compile without a warning under strict memory safety, too.
package.targets.first { $0.name == "SnippetTests" }?.swiftSettings?.append(.strictMemorySafety())
// Inline memory for values that come and go; see `RawStorage`.
package.targets.first { $0.name == "DeferredCore" }?.swiftSettings?.append(.enableExperimentalFeature("RawLayout"))
