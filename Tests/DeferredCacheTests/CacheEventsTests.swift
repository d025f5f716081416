import DeferredHTTP
import DeferredTesting
import TestSupport
import Testing

@testable import DeferredCache

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheEventsTests {
    @Test func `a log tells a hit and a confirmed response`() throws {
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
