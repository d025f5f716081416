import Foundation

/// A clock that stands still until it is advanced, and tells until when somebody sleeps.
///
/// So a test can wait until the library has begun and ended all the timers that it is to have, on whatever threads.
///
/// SAFETY: `lock` guards what changes. No continuation is resumed under it.
final class ScenarioClock: Clock, @unchecked Sendable {
    struct Instant: InstantProtocol {
        var microseconds: Int

        func advanced(by duration: Duration) -> Instant {
            Instant(microseconds: microseconds + Int(duration / .microseconds(1)))
        }

        func duration(to other: Instant) -> Duration { .microseconds(other.microseconds - microseconds) }

        static func < (one: Instant, other: Instant) -> Bool { one.microseconds < other.microseconds }
    }

    private struct Sleeper {
        let number: Int
        let deadline: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let lock = NSLock()
    private var microseconds = 0
    private var lastNumber = 0
    private var sleepers: [Sleeper] = []

    var minimumResolution: Duration { .microseconds(1) }

    var now: Instant { lock.withLock { Instant(microseconds: microseconds) } }

    /// The deadlines of the sleepers, in order.
    var deadlines: [Int] { lock.withLock { sleepers.map(\.deadline).sorted() } }

    func advance(_ count: Int) {
        let due = lock.withLock { () -> [Sleeper] in
            microseconds += count
            defer { sleepers.removeAll { $0.deadline <= microseconds } }
            return sleepers.filter { $0.deadline <= microseconds }.sorted { $0.number < $1.number }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = lock.withLock {
            lastNumber += 1
            return lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeps = lock.withLock {
                    // A sleeper that is cancelled later is found by its number.
                    guard deadline.microseconds > microseconds, !_Concurrency.Task.isCancelled else { return false }
                    sleepers.append(
                        Sleeper(number: number, deadline: deadline.microseconds, continuation: continuation)
                    )
                    return true
                }
                if !sleeps { continuation.resume() }
            }
        } onCancel: {
            let gone = lock.withLock { () -> Sleeper? in
                sleepers.firstIndex { $0.number == number }.map { sleepers.remove(at: $0) }
            }
            gone?.continuation.resume(throwing: CancellationError())
        }
    }
}
