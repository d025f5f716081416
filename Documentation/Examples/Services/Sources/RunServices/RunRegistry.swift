import Deferred
import Foundation
import Services

/// Pushes an image to Debian's docker-registry, and pulls it.
func runRegistry() async throws {
    let server = try Server("docker-registry") { folder, port in
        let configuration = folder.appending(path: "config.yml")
        let text = """
            version: 0.1
            storage: { filesystem: { rootdirectory: "\(folder.path)/store" } }
            http: { addr: "127.0.0.1:\(port)" }
            """
        try Data(text.utf8).write(to: configuration)
        return ["serve", configuration.path]
    }
    guard let server else { return }
    defer { server.stop() }
    let network = URLSessionLoader()
    try await server.waitUntilReady(HTTPRequest(path: "/v2/"))

    let registry = Registry(server.environment, over: network)
    let layer = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
    let config = try await registry.push(
        Data("{}".utf8),
        as: "application/vnd.oci.image.config.v1+json",
        to: "demo/app"
    )
    let blob = try await registry.push(layer, as: "application/vnd.oci.image.layer.v1.tar", to: "demo/app")
    try await registry.push(Registry.Manifest(config: config, layers: [blob]), to: "demo/app", "1.0")

    let manifest = try await registry.manifest(of: "demo/app", "1.0")
    let file = server.folder.appending(path: "layer")
    for layer in manifest.layers { try await registry.pull(layer, of: "demo/app", to: file) }
    try check(Data(contentsOf: file) == layer, "the layer that was pulled is another one")
    print("registry: pushed and pulled \(manifest.layers.count) layer of \(layer.count) bytes")
}
