internal import DeferredCore
internal import DeferredTask
import Foundation

/// Receives the responses of an exchange, each attempt's in turn, and makes its result.
///
/// An exchange calls its receiver in order, never concurrently, and without holding a lock. An error that a method throws
/// ends the attempt with that error.
protocol ResponseReceiver: Sendable {
    /// True if the response may be long, or if its reader may hold it: such a response must not share a connection with
    /// others, which would wait for it.
    var wantsOwnConnection: Bool { get }

    /// True if another attempt goes on where the last one broke off, so that it may follow whatever the method.
    var isResumable: Bool { get }

    /// Begins an attempt, or begins it once more after ``AttemptEnd/startOver``.
    ///
    /// - Returns: The request to send, which is `request` or derived from it.
    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) throws -> CheckedRequest

    /// Receives an interim head, which precedes that of the response.
    mutating func receive(interim head: ResponseHead)

    /// Receives the head of a response. A second head replaces the first, along with the bytes received since.
    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict

    mutating func receive(bytes: Data) throws

    /// Receives the end of a response, with its trailers, while the request's body is still sent. The attempt ends later.
    mutating func receive(end head: ResponseHead)

    /// Receives the progress of the request's body or of the current response's body.
    mutating func report(_ progress: BodyProgress)

    /// Ends the attempt; called once for each. Success means that the whole body was received. Of an exchange that has
    /// been cancelled meanwhile, the returned value isn't used.
    mutating func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd
}

extension ResponseReceiver {
    var wantsOwnConnection: Bool { false }
    var isResumable: Bool { false }
    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) throws -> CheckedRequest { request }
    mutating func receive(interim head: ResponseHead) {}
    mutating func receive(end head: ResponseHead) {}
}

/// The fate of a response, by its head.
enum HeadVerdict: Sendable {
    case take

    /// Takes it, and delivers the result before its body has come.
    case deliver(HTTPBodyStream)

    /// Its body is not received, and its beginning becomes part of the error with which the attempt ends.
    case refuse
}

/// The end of an attempt.
enum AttemptEnd: Sendable {
    case result(Result<ReceivedResponse, any Error>)

    /// The body that was delivered before has ended: with an error, or whole.
    case delivered((any Error)?)

    /// Another request has to be sent, without which there is no result.
    case startOver
}

/// A response as an exchange receives it, before it becomes a value of the caller's type.
///
/// Nothing of an exchange depends on that type but its completion: generic code that is compiled in another module than
/// its argument looks up the metadata of its types at each step.
enum ReceivedResponse: Sendable {
    case data(Data, ResponseHead)

    /// The head, and the body that follows.
    case stream(HTTPBodyStream, ResponseHead)

    /// The body is in a file.
    case file(ResponseHead)

    // An exchange has one receiver, whose results are all of one case.

    var data: (body: Data, head: ResponseHead) {
        guard case .data(let body, let head) = self else { preconditionFailure("data became \(self)") }
        return (body, head)
    }

    var stream: (body: HTTPBodyStream, head: ResponseHead) {
        guard case .stream(let body, let head) = self else { preconditionFailure("a stream became \(self)") }
        return (body, head)
    }

    var file: ResponseHead {
        guard case .file(let head) = self else { preconditionFailure("a file became \(self)") }
        return head
    }
}

/// The progress of a body in one direction.
package struct BodyProgress: Sendable, Equatable {
    package enum Direction: Sendable {
        case sent, received
    }

    let direction: Direction

    /// The number of bytes so far; received bytes count after decoding.
    let completed: Int64

    /// The length of the whole body, if known.
    let total: Int64?

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

    /// Returns a closure that reports the bytes of a file to this reporter, over all tasks of one exchange.
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
