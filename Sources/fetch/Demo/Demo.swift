import Deferred
import DeferredTesting
import Foundation

/// The demonstration that runs without URLs: downloads from a server in the process.
struct Demo {
    /// A file that the server offers.
    struct File: Sendable {
        let name: String
        let length: Int
        let seconds: Double
        var breaksOffAt: Int?
        var tellsLength = true

        func script(for request: LoopbackServer.Request) -> LoopbackServer.Script {
            let body = LoopbackServer.Payload.pattern(count: length)
            let script = tellsLength ? LoopbackServer.Script.resumable(body, for: request) : .untilClose(body: body)
            let slowed = script.dripped(Int(Double(length) / seconds / 50), every: .milliseconds(20))
            guard request.headers["Range"] == nil, let breaksOffAt else { return slowed }
            return slowed.truncated(after: breaksOffAt)
        }
    }

    static let files = [
        File(name: "manual.pdf", length: 400_000, seconds: 1.2),
        // The connection breaks once, and the download is resumed.
        File(name: "sources.tar.gz", length: 2_500_000, seconds: 2.4, breaksOffAt: 1_400_000),
        File(name: "film.mp4", length: 12_000_000, seconds: 4.2),
        File(name: "radio.ogg", length: 900_000, seconds: 3.2, tellsLength: false),
    ]

    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { request in
            Self.files.first { "/\($0.name)" == request.path }?.script(for: request) ?? .response(404)
        }
    }

    var urls: [String] { Self.files.map { server.url("/\($0.name)").absoluteString } }
}
