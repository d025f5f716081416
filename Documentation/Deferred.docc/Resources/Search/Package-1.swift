// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SearchField",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../Deferred")  // a clone named Deferred, beside your package
    ],
    targets: [
        .target(name: "SearchField", dependencies: ["Deferred"]),
    ]
)
