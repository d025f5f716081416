import DeferredCore
import DeferredHTTP
import DeferredTesting
import Foundation

@testable import DeferredCache

/// The two clocks of a cache, which a test advances.
final class CacheTestClock: Sendable {
    let clock = ManualClock()
    private let wall = Lock(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { wall.withLock { $0 } }

    /// The time by both clocks.
    var instant: CacheInstant {
        let steady = clock.now.offset.components
        return CacheInstant(
            wall: Int64((now.timeIntervalSince1970 * 1_000).rounded()),
            steady: steady.seconds * 1_000 + steady.attoseconds / 1_000_000_000_000_000
        )
    }

    func advance(by seconds: Double) {
        setWall(by: seconds)
        clock.advance(by: .milliseconds(Int(seconds * 1_000)))
    }

    /// Sets the wall clock alone.
    func setWall(by seconds: Double) { wall.withLock { $0 += seconds } }

    func cache(_ storage: Cache.Storage = .memory(), servesStaleOnError: Bool = false) -> Cache {
        Cache(storage, servesStaleOnError: servesStaleOnError, now: { self.now }, clock: clock)
    }
}

extension HTTPRequest {
    func inPartition(_ name: String) -> HTTPRequest {
        var copy = self
        copy.cachePartition = name
        return copy
    }
}
