import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// A wall clock that was wrong once, and processes that come later.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskClockTests {
    private static let year = 365.0 * 86_400
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// The cache of a new process.
    private func cache() -> Cache { clock.cache(.disk(at: folder.url.appending(path: "cache"))) }

    private func response(_ version: Int, vary: String? = nil) -> StubLoader.Answer {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=100", "ETag": "\"\(version)\""]
        headers["Vary"] = vary
        return .response(headers: headers, body: "\(version)")
    }

    private func load(_ stub: StubLoader, _ request: HTTPRequest = .cacheable()) -> String? {
        let cache = cache()
        let text = (cache --> stub).load(request).textLater
        _ = cache.flush().wait()
        return text
    }

    @Test(arguments: [1.0, -1], [nil, "A"])
    func `a clock that was wrong once keeps no later response out`(direction: Double, vary: String?) {
        let stub = StubLoader(response(1, vary: vary), response(2), response(3))
        clock.setWall(by: direction * Self.year)
        #expect(load(stub) == "1")
        clock.setWall(by: -direction * Self.year + 10)
        #expect(load(stub) == "2")
        #expect(load(stub, .cacheable().with(.anyAge)) == "2")
        #expect(load(stub) == "2" && stub.requests.count == 2)
        clock.setWall(by: 200)
        #expect(load(stub) == "3" && load(stub) == "3")
    }

    @Test func `a response that a clock ahead has stored is renewed by a 304`() {
        let stub = StubLoader(
            response(1),
            .response(.notModified, headers: ["Cache-Control": "max-age=50"]),
            response(2)
        )
        clock.setWall(by: Self.year)
        #expect(load(stub) == "1")
        clock.setWall(by: -Self.year)
        #expect(load(stub) == "1" && stub.requests.count == 2)
        clock.setWall(by: 40)
        #expect(load(stub) == "1" && stub.requests.count == 2, "fresh")
        clock.setWall(by: 20)
        #expect(load(stub) == "2")
    }

    @Test func `a response that was thrown away counts for nothing`() throws {
        let cache = cache()
        let stub = StubLoader()
        let chain = cache --> stub
        let tasks = (0..<2).map { _ in chain.load(.cacheable().with(.reload)) }
        try #require(settles(within: .seconds(60)) { stub.requests.count == 2 })
        clock.advance(by: 1)
        let later = chain.load(.cacheable().with(.reload))
        try #require(settles(within: .seconds(60)) { stub.requests.count == 3 })
        let headers: HTTPHeaders = ["Cache-Control": "max-age=100"]
        let sent = stub.tasksInFlight
        sent[2].succeed(.ok, headers: headers, body: Data("new".utf8))
        _ = (later.textLater, cache.flush().wait())
        let bytes = cache.statistics.bytes
        for task in sent.dropLast() { task.succeed(.ok, headers: headers, body: Data("old".utf8)) }
        _ = (tasks.map(\.textLater), cache.flush().wait())
        #expect(cache.statistics.bytes == bytes && bytes > 0 && cache.statistics.stored == 1)
        #expect(chain.load(.cacheable()).textLater == "new")
    }

    @Test func `what was used in the future was used at no known time, and goes first`() throws {
        let cache = clock.cache(.disk(at: folder.url.appending(path: "cache"), capacity: 200_000))
        let chain =
            cache --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=100"], data: Data(count: 4_000)) }
        _ = (chain.load(.cacheable(.get, "/first")).textLater, cache.flush().wait())
        let path = folder.url.appending(path: "cache").path
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasPrefix("h-") {
            let date = Date().addingTimeInterval(Self.year)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path + "/" + name)
        }
        for number in 0..<40 { _ = chain.load(.cacheable(.get, "/\(number)")).textLater }
        _ = cache.flush().wait()
        #expect(cache.statistics.evicted > 0)
        #expect(chain.load(.cacheable(.get, "/first").with(.onlyCached)).statusLater == 504)
    }
}
