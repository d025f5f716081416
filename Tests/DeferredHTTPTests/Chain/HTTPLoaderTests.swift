import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// The example in the documentation of `HTTPLoader`. The last test makes sure that it is the same text.
///
/// Says with each request in which language the answer is to be.
struct Language: HTTPLink {
    let code: String
    func load(_ task: HTTPTask, next: any HTTPLoader) {
        var request = task.request
        request.headers["Accept-Language"] = code
        task.pass(request, to: next)
    }
}

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPLoaderTests {
    @Test func `adding a loader of one's own`() {
        let stub = StubLoader(.response(200))
        let chain = Retry() --> Language(code: "de") --> stub
        #expect(chain.load(.example).statusNow == .ok)
        #expect(stub.requests.map { $0.headers["accept-language"] } == ["de"])
    }

    @Test func `the example is that of the documentation`() throws {
        let here = URL(filePath: #filePath)
        let sources = here.appending(path: "../../../../Sources/DeferredHTTP/Chain/HTTPLoader.swift")
            .standardizedFileURL
        let documented = try lines(of: sources).compactMap { $0.hasPrefix("/// ") ? $0.dropFirst(4) : nil }
            .map { $0.drop { $0 == " " } }
        let article = here.appending(
            path: "../../../../Documentation/Deferred.docc/Articles/BuildingAnHTTPChain.md"
        ).standardizedFileURL
        let example = try lines(of: here).drop { $0 != "struct Language: HTTPLink {" }.prefix(8)
        #expect(example.count == 8)
        for text in [documented, try lines(of: article)] {
            #expect(text.indices.contains { text[$0...].starts(with: example) })
        }
    }

    @Test func `a closure is called with the result, once`() {
        let journal = Journal<HTTPStatus?>()
        StubLoader(.response(404)).load(.example) { result in journal.add(try? result.get().status) }
        #expect(journal.entries == [404])
    }

    /// Returns the lines of a file, without indentation and empty lines.
    private func lines(of file: URL) throws -> [Substring] {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            .map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
    }
}
