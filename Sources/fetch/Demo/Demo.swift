import DeferredTesting
import Foundation

/// The program without URLs: downloads from a server of its own.
struct Demo {
    private let server: LoopbackServer

    init() throws(LoopbackServer.StartError) {
        server = try LoopbackServer { request in
            DemoFile.all.first { $0.path == request.path }?.script(for: request) ?? .status(404)
        }
    }

    /// Returns when nothing of the server is left.
    func stop() {
        server.stop()
    }

    var urls: [String] {
        DemoFile.all.map { server.url($0.path).absoluteString }
    }
}
