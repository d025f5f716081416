import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Releases with several formats that use one folder.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheFileNameTests {
    @Test func `the files of another version are left alone for 30 days, and those of the user for ever`() async throws
    {
        let (clock, folder) = (CacheTestClock(), try TemporaryDirectory())
        let foreign = ["h-0123456789abcdef", "b-1a", "h-2-0123456789abcdef", "b-2-1a", "t-9-1"]
        let own = ["notes", "h-1-notes", "b-", "b-1-", "x-1-1", "h-house", "hh-1-1", "h-1-1-1"]
        for (days, isOld) in [(29.0, false), (31, true)] {
            let path = isOld ? "old" : "new"
            for name in foreign + own {
                let file = try folder.write(name, to: "\(path)/\(name)")
                let date = Date().addingTimeInterval(-days * 86_400)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file.path)
            }
            let cache = clock.cache(.disk(at: folder.url.appending(path: path), capacity: 1 << 20))
            let chain =
                cache
                --> StubLoader { _ in .response(headers: ["Cache-Control": "max-age=9"], data: Data(count: 9_000)) }
            for number in 0..<100 { _ = try await chain.load(.cacheable(.get, "/\(number)")).get() }
            await cache.flush().value
            #expect(cache.statistics.evicted > 0)
            await cache.removeAll().value
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: path).path)
            #expect(Set(left) == Set((isOld ? [] : foreign) + own + ["salt", "lock", "room"]))
        }
    }
}
