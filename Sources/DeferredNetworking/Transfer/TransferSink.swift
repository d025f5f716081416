internal import DeferredCore
internal import DeferredTask
package import Foundation

/// Receives a transfer's response.
///
/// A transfer calls its sink in order, never concurrently, and without holding a lock. After `finish`, it makes no more
/// calls and releases the sink. An error that a method throws ends the transfer with that error.
package protocol TransferSink: AnyObject, Sendable {
    /// True if the response may be long, or if its reader may hold it: such a response must not share a connection with
    /// others, which would wait for it.
    var wantsOwnConnection: Bool { get }

    /// Called before the transfer begins. A sink that retains the transfer creates a reference cycle.
    func begin(_ transfer: Transfer)

    /// Receives the head of a response. A second head replaces the first, along with the bytes received since.
    ///
    /// - Returns: False to refuse the response: its body is not received, and its beginning becomes part of the error with
    ///   which the transfer finishes.
    func receive(head: ResponseHead) throws -> Bool

    func receive(bytes: Data) throws

    /// Receives the progress of the request's body or of the current response's body.
    func report(_ progress: BodyProgress)

    /// Ends the transfer; called exactly once. Success means that the whole body was received.
    func finish(_ result: Result<ResponseHead, any Error>)
}

extension TransferSink {
    package var wantsOwnConnection: Bool { false }
    package func begin(_ transfer: Transfer) {}
}

/// The progress of a body in one direction.
package struct BodyProgress: Sendable, Equatable {
    package enum Direction: Sendable {
        case sent, received
    }

    package let direction: Direction

    /// The number of bytes so far; received bytes count after decoding.
    package let completed: Int64

    /// The length of the whole body, if known.
    package let total: Int64?

    /// The bytes of `completed` that were already there, and that this transfer did not bring.
    let resumed: Int64

    static func sent(_ completed: Int64, of total: Int64?) -> Self {
        Self(direction: .sent, completed: completed, total: total, resumed: 0)
    }

    static func received(_ completed: Int64, of total: Int64?, resumed: Int64 = 0) -> Self {
        Self(direction: .received, completed: completed, total: total, resumed: resumed)
    }
}

extension ProgressReporter {
    /// Returns a closure that reports one direction of a transfer's progress to this reporter and ignores the other.
    func counting(_ direction: BodyProgress.Direction) -> @Sendable (BodyProgress) -> Void {
        { [self] progress in
            if progress.direction == direction {
                report(completed: progress.completed, of: progress.total)
            }
        }
    }

    /// Returns a closure that reports the bytes of a file to this sink, over all transfers of one task.
    ///
    /// Bytes that an earlier transfer of the same task brought do not count as resumed.
    func countingFile() -> @Sendable (BodyProgress) -> Void {
        let before = Lock(Int64.max)
        return { [self] progress in
            guard progress.direction == .received else { return }
            let resumed = before.withLock { before in
                before = min(before, progress.resumed)
                return before
            }
            report(completed: progress.completed, of: progress.total, resumed: resumed)
        }
    }
}
