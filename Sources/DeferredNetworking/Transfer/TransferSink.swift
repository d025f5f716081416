internal import DeferredCore
internal import DeferredTask
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Where a transfer's response goes.
///
/// A transfer calls its sink in order, never twice at once, and holds no lock meanwhile. After `finish` it calls
/// nothing and lets go of the sink. What a method throws ends the transfer with that error.
package protocol TransferSink: AnyObject, Sendable {
    /// The transfer is about to begin. A sink that keeps it makes a cycle.
    func begin(_ transfer: Transfer)

    /// A response begins. A second one replaces the first, and all bytes that came with it.
    func receive(head: URLResponse) throws

    func receive(bytes: Data) throws

    /// How far the body of the request, or that of the current response, has come.
    func report(_ progress: BodyProgress)

    /// The end, exactly once. A success means that the whole body was received.
    func finish(_ result: Result<URLResponse, any Error>)
}

extension TransferSink {
    package func begin(_ transfer: Transfer) {}
}

/// How many bytes of a body have gone by.
package struct BodyProgress: Sendable, Equatable {
    package enum Direction: Sendable {
        case sent, received
    }

    package let direction: Direction

    /// Bytes so far; those received count after decoding.
    package let completed: Int64

    /// Bytes of the whole body, when that is known.
    package let total: Int64?

    /// Those of `completed` that this transfer did not bring, since they were there.
    let resumed: Int64

    static func sent(_ completed: Int64, of total: Int64?) -> Self {
        Self(direction: .sent, completed: completed, total: total, resumed: 0)
    }

    static func received(_ completed: Int64, of total: Int64?, resumed: Int64 = 0) -> Self {
        Self(direction: .received, completed: completed, total: total, resumed: resumed)
    }
}

extension ProgressReporter {
    /// What reports one direction of a transfer here, and leaves out the other.
    func counting(_ direction: BodyProgress.Direction) -> @Sendable (BodyProgress) -> Void {
        { [self] progress in
            if progress.direction == direction {
                report(completed: progress.completed, of: progress.total)
            }
        }
    }

    /// What reports the bytes of a file here, over all transfers of one task.
    ///
    /// What a transfer of the task brought, and the next one finds, was not there before the task.
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
