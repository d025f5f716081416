import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Search as you type: every keystroke starts a request, and only the answer to the latest one is ever shown.
@MainActor
final class SearchModel {
    private(set) var shown: [[String]] = []
    private let latest = LatestTask<[String]>()
    private let session: URLSession
    private let server: URL

    init(_ session: URLSession, _ server: URL) {
        (self.session, self.server) = (session, server)
    }

    func textChanged(to text: String) {
        let url = server.appending(queryItems: [URLQueryItem(name: "q", value: text)])
        let search = session.beginDataTask(with: url).map { data, _ in
            try JSONDecoder().decode([String].self, from: data)
        }
        latest.start(search, on: .mainActor) { [weak self] result in
            if let items = try? result.get() { self?.shown.append(items) }
        }
    }
}

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct SearchAsYouTypeTests {
    @Test @MainActor func `older queries that are answered later are never shown`() async throws {
        let gates = ["s": Deferred<Void>(), "sw": Deferred<Void>(), "swift": Deferred<Void>()]
        let server = try LoopbackServer { request in
            let query = request.target.split(separator: "=").last.map(String.init) ?? ""
            gates[query]?.wait()
            return .json(#"["results for \#(query)"]"#)
        }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let model = SearchModel(session, server.url("/search"))

        for text in ["s", "sw", "swift"] {
            model.textChanged(to: text)
            try await eventually { server.requests.contains { $0.target.hasSuffix("=\(text)") } }
        }
        gates["swift"]?.fill()
        try await eventually { model.shown == [["results for swift"]] }
        // The older requests are answered only now.
        gates["sw"]?.fill()
        gates["s"]?.fill()
        model.textChanged(to: "swift")
        try await eventually { model.shown.count == 2 }
        #expect(model.shown == [["results for swift"], ["results for swift"]])
    }
}
