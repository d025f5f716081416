import Deferred
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// Counts what a client's requests come to.
final class Metrics: Sendable, CustomStringConvertible {
    private struct Counts {
        var requests = 0
        var failures = 0
        var reused = 0
        var slowest = Duration.zero
        var received: Int64 = 0
        var statuses: [Int: Int] = [:]
    }

    private let counts = Mutex(Counts())

    /// Notes an event of a `URLClient`, on whose threads it is called.
    func note(_ event: URLClient.Event) {
        counts.withLock { counts in
            switch event.kind {
            case .response(let head):
                counts.statuses[head.statusCode, default: 0] += 1
            case .finished(let error):
                counts.requests += 1
                if error != nil { counts.failures += 1 }
                // Metrics of the transfer itself come from libcurl only.
                if event.metrics?.isReused == true { counts.reused += 1 }
                counts.slowest = max(counts.slowest, event.elapsed)
                counts.received += event.received
            default:
                break
            }
        }
    }

    var description: String {
        let counts = counts.withLock { $0 }
        let statuses = counts.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }
        return "\(counts.requests) requests (\(statuses.joined(separator: ", ")); \(counts.failures) failed), "
            + "\(counts.reused) on kept connections, \(counts.received) bytes, slowest \(counts.slowest)"
    }
}
