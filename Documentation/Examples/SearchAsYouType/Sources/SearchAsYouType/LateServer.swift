import Deferred
import DeferredTesting
import Foundation

/// A catalog on this machine that keeps its answer to "de" back.
final class LateServer: Sendable {
    /// Filled when somebody has asked for "de".
    let hasAskedForFirst = Deferred<Void>()

    /// To be filled when the answer to that may come.
    let mayAnswerFirst = Deferred<Void>()

    private let server: LoopbackServer

    init() throws {
        server = try LoopbackServer { [hasAskedForFirst, mayAnswerFirst] request in
            switch request.query("q") {
            case "de":
                hasAskedForFirst.fill()
                mayAnswerFirst.wait()
                return .json(#"["default"]"#)
            case "def":
                return .json(#"["deferred"]"#)
            default:
                return .response(404)
            }
        }
    }

    var url: URL { server.url("/search") }

    var requestCount: Int { server.requestCount }

    /// Returns when all is answered.
    func stop() { server.stop() }
}
