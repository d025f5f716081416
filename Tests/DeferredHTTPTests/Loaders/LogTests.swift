import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LogTests {
    @Test func `each request is one line, with its time`() throws {
        let (lines, clock, stub) = (Journal<String>(), ManualClock(), StubLoader())
        let chain = DeferredHTTP.Log(clock: clock) { lines.add($0) } --> stub
        let url = try #require(URL(string: "https://me:secret@host/path?token=secret&q=1"))
        let request = HTTPRequest(url: url, headers: ["Authorization": "Bearer secret"])
        chain.load(request)
        clock.advance(by: .milliseconds(1_500))
        stub.tasksInFlight[0].succeed(.notFound, body: Data("12345".utf8))
        chain.load(request).cancel()
        let url2 = "GET https://…@host/path?token=…&q=1"
        #expect(lines.entries == ["\(url2): 404 Not Found, 5 bytes, 1.5 seconds", "\(url2): cancelled, 0.0 seconds"])
    }

    @Test func `a hit is a hit, and a confirmed response is one`() throws {
        let (lines, clock) = (Journal<String>(), CacheTestClock())
        let stub = StubLoader(
            .response(headers: ["Cache-Control": "max-age=10, stale-if-error=60", "ETag": "\"a\""], body: "12345"),
            .response(.notModified, headers: ["ETag": "\"a\""]),
            .response(503)
        )
        let chain =
            DeferredHTTP.Log.events(clock: clock.clock) { event in
                switch event.kind {
                case .cached(let age, let isConfirmed): lines.add("cached \(age) \(isConfirmed)")
                case .ended: lines.add(event.description)
                default: break
                }
            } --> clock.cache() --> stub
        for seconds in [0.0, 4, 8, 12] {
            clock.advance(by: seconds)
            chain.load(.cacheable())
        }
        let line = "GET https://example.com/: 200 OK, 5 bytes"
        #expect(
            lines.entries == [
                "\(line), 0.0 seconds",
                "cached 4.0 seconds false", "\(line), from the cache, age 4.0 seconds, 0.0 seconds",
                "cached 0.0 seconds true", "\(line), from the cache, confirmed, 0.0 seconds",
                "cached 12.0 seconds false", "\(line), from the cache, stale, age 12.0 seconds, 0.0 seconds",
            ]
        )
    }
}
