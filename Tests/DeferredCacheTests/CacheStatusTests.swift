import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// The field `Cache-Status`: RFC 9211.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheStatusTests {
    private let clock = CacheTestClock()

    private func cache(_ name: String? = "app") -> Cache {
        Cache(.memory(), statusName: name, now: { [clock] in clock.now }, clock: clock.clock)
    }

    private func status(_ chain: some HTTPLoader, _ request: HTTPRequest) -> String? {
        let response = chain.load(request).responseLater
        _ = response?.stream.map { stream in DeferredTask.Task { try await stream.collect() }.future.wait() }
        return response?.headers.combined("Cache-Status")
    }

    @Test(arguments: [false, true])
    func `a response says why its request was sent, or that it was not`(isStreamed: Bool) {
        let stub = StubLoader { request in
            if request.headers["If-None-Match"] == "\"a\"" { return .response(.notModified) }
            let control = request.path == "/short" ? "max-age=10, stale-while-revalidate=5" : "max-age=10"
            return .response(
                headers: ["Cache-Control": control, "ETag": "\"a\"", "Vary": "Accept"],
                body: "text"
            )
        }
        let chain = cache() --> stub
        func get(_ path: String = "/", _ fields: HTTPHeaders = [:], _ policy: CachePolicy = .standard) -> String? {
            let request = HTTPRequest.cacheable(.get, path, fields).with(policy)
            return status(chain, isStreamed ? request.streamed() : request)
        }
        #expect(get() == "app; fwd=uri-miss; stored")
        #expect(get() == "app; hit; ttl=10")
        clock.advance(by: 2.5)
        #expect(get() == "app; hit; ttl=7")
        #expect(get("/", ["Accept": "text/html"]) == "app; fwd=vary-miss; stored")
        #expect(get("/", [:], .validate) == "app; fwd=request; fwd-status=304; ttl=10")
        #expect(get("/", [:], .reload) == "app; fwd=request; fwd-status=304; ttl=10")
        #expect(get("/", [:], .bypass) == "app; fwd=bypass")
        clock.advance(by: 12)
        #expect(get("/", ["Cache-Control": "max-stale"]) == "app; hit; ttl=-2")
        #expect(get() == "app; fwd=stale; fwd-status=304; ttl=10")
        #expect(get("/short") == "app; fwd=uri-miss; stored")
        clock.advance(by: 12)
        #expect(get("/short") == "app; hit; ttl=-2; detail=stale-while-revalidate")
        #expect(status(chain, .cacheable(.put, "/")) == "app; fwd=method")
        #expect(get("/none", [:], .onlyCached) == nil, "neither a hit nor sent")
    }

    @Test func `a stale response in place of an error was sent for`() {
        let isDown = Lock(false)
        let stub = StubLoader { _ in
            isDown.withLock { $0 }
                ? .response(503) : .response(headers: ["Cache-Control": "max-age=1, stale-if-error=60"], body: "text")
        }
        let chain = cache() --> stub
        #expect(status(chain, .cacheable()) == "app; fwd=uri-miss; stored")
        isDown.withLock { $0 = true }
        clock.advance(by: 3)
        #expect(status(chain, .cacheable()) == "app; fwd=stale; ttl=-2; detail=stale-if-error")
    }

    @Test func `a response that was fetched for an equal request is collapsed`() async throws {
        let stub = StubLoader()
        let chain = cache() --> stub
        let tasks = (0..<2).map { _ in chain.load(.cacheable()) }
        try await eventually { stub.tasksInFlight.count == 1 }
        stub.tasksInFlight[0].succeed(.ok, headers: ["Cache-Control": "max-age=10"], body: Data())
        #expect(try await tasks[0].get().headers["Cache-Status"] == "app; fwd=uri-miss; stored")
        #expect(try await tasks[1].get().headers["Cache-Status"] == "app; fwd=uri-miss; collapsed; ttl=10")
    }

    @Test func `a part that is stored is told from the rest`() {
        let stub = StubLoader { request in
            let body = Data("0123456789".utf8)
            let fields: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\"", "Accept-Ranges": "bytes"]
            guard request.headers["Range"] == "bytes=0-3" else {
                var fields = fields
                fields["Content-Range"] = "bytes 4-9/10"
                return .response(206, headers: fields, data: body.dropFirst(4))
            }
            var part = fields
            part["Content-Range"] = "bytes 0-3/10"
            return .response(206, headers: part, data: body.prefix(4))
        }
        let chain = cache() --> stub
        #expect(status(chain, .cacheable(.get, "/", ["Range": "bytes=0-3"])) == "app; fwd=uri-miss; stored")
        #expect(status(chain, .cacheable()) == "app; fwd=partial; fwd-status=206; ttl=10")
    }

    @Test func `a name that is no token is a string, and members of other caches are kept`() {
        let headers: HTTPHeaders = ["Cache-Status": "edge; hit", "Cache-Control": "max-age=10"]
        let stub = StubLoader(.response(headers: headers, body: ""))
        #expect(status(cache("my \"app") --> stub, .cacheable()) == #"edge; hit, "my \"app"; fwd=uri-miss; stored"#)
        #expect(status(cache(nil) --> stub, .cacheable()) == "edge; hit")
        let chain = cache("7") --> stub
        #expect(status(chain, .cacheable()) == #"edge; hit, "7"; fwd=uri-miss; stored"#)
        #expect(status(chain, .cacheable()) == #"edge; hit, "7"; hit; ttl=10"#, "its own is not stored")
    }
}
