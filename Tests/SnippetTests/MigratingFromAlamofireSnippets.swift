// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 84)
private struct User: Decodable, Sendable { let name: String }
@MainActor private final class Bar { var progress: Float = 0; var text = "" }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromAlamofireSnippets {
    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 89)
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/user")
        let bar = Bar()
        func show(_ user: User) { bar.text = user.name }
        func show(_ error: any Error) { bar.text = error.localizedDescription }
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 98)






        let user = client.decode(User.self, from: URLRequest(url: url))
        user.uponProgress(on: .mainActor) { bar.progress = Float($0.fraction) }
        user.uponSuccess(on: .mainActor) { show($0) }
        user.uponFailure(on: .mainActor) { error in
            if !error.isCancellation { show(error) }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromAlamofire.md", line: 112)
        let end = Deferred<Void>()
        user.upon(.mainActor) { _ in end.fill() }
        await end.value
        #expect(bar.text == "Ada")
        await client.shutdown().value
#sourceLocation()
    }
}
