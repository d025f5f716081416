// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromCombine.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 104)
@MainActor private final class List {
    let isShown = Deferred<Void>()
    var items: [String] = [] { didSet { isShown.fill() } }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromCombineSnippets {
    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 111)
        let server = try LoopbackServer { _ in .json(#"["swift"]"#) }
        defer { server.stop() }
        let list = List()
        @Sendable func url(for text: String) -> URL { server.url("/?q=\(text)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 117)






        let search = LatestTask<[String]>()

        func textChanged(_ text: String) {
            search.start(after: .milliseconds(300), on: .mainActor) {
                URLSession.shared.beginDataTask(with: url(for: text))
                    .map { data, _ in try JSONDecoder().decode([String].self, from: data) }
            } deliver: { result in
                list.items = (try? result.get()) ?? []
            }
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCombine.md", line: 135)
        textChanged("swift")
        await list.isShown.value
        #expect(list.items == ["swift"])
#sourceLocation()
    }
}
