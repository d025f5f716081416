import DeferredCore
import DeferredTesting
import Foundation

@testable import DeferredHTTP

/// The two clocks of a cache, which a test advances.
final class CacheTestClock: Sendable {
    let clock = ManualClock()
    private let wall = Lock(Date(timeIntervalSince1970: 1_700_000_000))

    var now: Date { wall.withLock { $0 } }

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

extension HTTPTask {
    var responseNow: HTTPResponse? { try? peek()?.get() }
    var textNow: String? { responseNow?.text }
}

extension HTTPRequest {
    static func cacheable(
        _ method: HTTPMethod = .get,
        _ path: String = "/",
        _ headers: HTTPHeaders = [:]
    ) -> HTTPRequest {
        HTTPRequest(method, host: "example.com", path: path, headers: headers)
    }

    func with(_ policy: CachePolicy) -> HTTPRequest {
        var copy = self
        copy.cachePolicy = policy
        return copy
    }

    func inPartition(_ name: String) -> HTTPRequest {
        var copy = self
        copy.cachePartition = name
        return copy
    }

    func streamed() -> HTTPRequest {
        var copy = self
        copy.delivery = .stream
        return copy
    }
}
