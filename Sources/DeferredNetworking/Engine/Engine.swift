package import DeferredCore

#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sends requests: all that a transfer sees of `URLSession`, or of whatever carries it instead.
///
/// An engine has a registry of its tasks, keyed by its own identifiers, which retains each one's transfer until the
/// task has ended. It sends a transfer the events of a task one by one and in order. None of its methods waits.
package protocol Engine: AnyObject, Sendable {
    /// Header fields that every request on this engine carries unless it has its own: added before a request is checked.
    var defaultHeaders: [String: String] { get }

    /// Whether its tasks end by themselves when the request's `timeoutInterval` has passed.
    var hasTimeouts: Bool { get }

    /// Filled when the engine is gone, with all that it had open.
    var invalidated: Future<Void> { get }

    /// Tasks that have not ended.
    var taskCount: Int { get }

    /// Makes a task, and sends the transfer ``EngineEvent/made(_:)`` with it, now or soon. Nothing goes out before it is resumed.
    ///
    /// - Parameter configure: applied to a platform task before it is resumed, where the engine has one.
    func makeTask(for request: CheckedRequest, of transfer: Transfer, configure: EngineTaskConfiguration?)

    /// Ends what runs, and closes all connections. Only for an engine that no lease is held on.
    func invalidate()
}

package typealias EngineTaskConfiguration = @Sendable (URLSessionTask) -> Void

/// One request on its way.
package protocol EngineTask: AnyObject, Sendable {
    /// Never used twice by its engine.
    var identifier: Int { get }

    /// Sends the request. Called once.
    func resume()

    /// Asks for the end, which is told by ``EngineEvent/ended(_:error:)`` as any other.
    func cancel()

    /// Stops reading the response, or goes on, where the engine can. What was read already is still told.
    ///
    /// - Parameter isHeld: asked soon, so that of two calls at once the one that is heeded last sees the truth.
    func hold(while isHeld: @escaping @Sendable () -> Bool)

    /// So many of the bytes that were told have gone to the sink.
    func took(_ count: Int)
}

/// Something that an engine tells the transfer of one of its tasks.
package enum EngineEvent: Sendable {
    /// The task is there, and waits to be resumed. Always the first.
    case made(any EngineTask)

    /// The head of a response. Interim ones may be told, too; of several others, the last one counts.
    case head(URLResponse)

    /// A redirect, instead of its head. Its body is not read; the task has to be cancelled.
    case redirect(HTTPURLResponse)

    /// A challenge, after the head and the body that came with it. Without an answer, the task has to be cancelled.
    case challenge(URLAuthenticationChallenge, answer: ChallengeAnswer?)

    /// Bytes of the body, decoded.
    case bytes(Data)

    /// So many more bytes of the request's body went out, of so many in all when that is known.
    case sent(Int64, of: Int64?)

    /// The body would have to be sent again: a kept-alive connection was lost. The task has to be cancelled.
    case needsBody

    /// How long the parts of the task took. Just before its end.
    case measured(URLClient.Metrics)

    /// The end, with the last head that the engine knows. Always the last of a task.
    case ended(URLResponse?, error: (any Error)?)

    /// The engine is gone, and tells nothing more.
    case invalidated
}

package typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// The right to make tasks on an engine, which isn't invalidated while somebody has it. Releasing the lease gives it back.
package final class EngineLease: Sendable {
    package let engine: any Engine
    private let onReturn: @Sendable () -> Void

    /// - Parameter onReturn: called once, when the last reference has gone. It must not be dropped under a lock.
    package init(_ engine: any Engine, onReturn: @escaping @Sendable () -> Void = {}) {
        self.engine = engine
        self.onReturn = onReturn
    }

    deinit {
        onReturn()
    }
}
