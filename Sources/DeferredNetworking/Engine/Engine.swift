package import DeferredCore

#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

/// Sends the requests of exchanges, by `URLSession` or another implementation.
///
/// An engine retains the exchange of each task until the task has ended. It sends an exchange the events of a task one by
/// one and in order. Its methods don't block.
package protocol Engine: AnyObject, Sendable {
    /// Header fields that are added to every request without them, before the request is checked.
    var defaultHeaders: [String: String] { get }

    /// The cookies that exchanges send and store; nil if there are none, or if the engine's platform handles them.
    var cookies: CookieJar? { get }

    /// True if it sends the bytes of a ``StreamedBody`` as they come, with trailers, and reports interim responses.
    var streamsMessages: Bool { get }

    /// True if tasks end by themselves after the request's `timeoutInterval`.
    var hasTimeouts: Bool { get }

    /// The longest silence that the engine's settings allow, where its user has to measure that; nil for none.
    var idleTimeout: Duration? { get }

    /// The time by which deadlines are later than those of another engine below this one, which has the first word.
    var deadlineMargin: Duration { get }

    /// Filled when the engine is gone and has closed everything.
    var invalidated: Future<Void> { get }

    /// Checks that tasks can connect to the host of a URL, and send its path as it is.
    func check(_ url: URL) throws(URLClientError)

    /// Checks that tasks can send trailers.
    func checkTrailers() throws(URLClientError)

    /// Creates a task, which sends nothing before it is resumed.
    ///
    /// - Parameter number: The task's number in its exchange, for its events.
    func makeTask(for request: CheckedRequest, of exchange: Exchange, as number: Int) -> any EngineTask

    /// Ends all tasks, and closes all connections. Only for an engine that nobody retains.
    func invalidate()
}

extension Engine {
    package var cookies: CookieJar? { nil }
    package var streamsMessages: Bool { false }
    package var idleTimeout: Duration? { nil }
    package var deadlineMargin: Duration { .zero }

    package func checkTrailers() throws(URLClientError) { try checkStreaming("trailers of requests") }

    /// Refuses what only an engine can that streams messages.
    func checkStreaming(_ what: String) throws(URLClientError) {
        guard !streamsMessages else { return }
        throw .invalidRequest(
            reason: "URLSession has no \(what); use the engine libcurl: Configuration.engine, and libcurl installed"
        )
    }
}

package typealias EngineTaskConfiguration = @Sendable (URLSessionTask) -> Void

/// A request that an engine sends.
package protocol EngineTask: AnyObject, Sendable {
    /// Sends the request. Called once, unless the task is cancelled before.
    func resume()

    /// Requests cancellation. The end is reported by ``EngineEvent/ended(_:error:)``, like any other.
    func cancel()

    /// Pauses or resumes reading the response, if the engine supports it. Bytes that were read already are still
    /// delivered.
    ///
    /// - Parameter isPaused: called soon. Of two concurrent calls, the one that takes effect last thus sees the current
    ///   state.
    func pause(while isPaused: @escaping @Sendable () -> Bool)

    /// Reports that the receiver has taken bytes.
    func took(_ count: Int)

    /// Notes that the task is about to be cancelled because of a deadline: its connection may be dead. Must not block.
    func expire()

    /// Calls a closure once everything that has come by now was read and reported, as far as the engine can tell.
    func afterReading(_ body: @escaping @Sendable () -> Void)

    /// The time since the task's connection was there, last received a byte, or the peer took one. Of a task that waits for
    /// a connection that others use, the time since one of them got something. Nil if that can't be told.
    var silence: Duration? { get }
}

extension EngineTask {
    package var silence: Duration? { nil }
    package func expire() {}
    package func afterReading(_ body: @escaping @Sendable () -> Void) { body() }
}

/// An event that an engine sends to the exchange of one of its tasks.
package enum EngineEvent: Sendable {
    /// The head of a response, interim ones before it; of several others, the last one counts.
    case head(ResponseHead)

    /// A redirect, instead of its head. With an answer, the task waits for it; without, it has to be cancelled, and its
    /// body is not read.
    case redirect(ResponseHead, answer: RedirectAnswer? = nil)

    /// A challenge, after the head and body that came with it. Without an answer, the task must be cancelled.
    case challenge(URLAuthenticationChallenge, answer: ChallengeAnswer?)

    /// Decoded bytes of the body.
    case bytes(Data)

    /// Bytes arrived that no other event tells of: of a head that isn't complete, or those that a decoder holds back.
    case activity

    /// The response is complete, with these trailers, though the body of the request isn't. The task goes on with that.
    case answered(ResponseHead)

    /// The task waits for a network to connect over.
    case waiting

    /// The request's body goes out from its first byte, once more perhaps. With an answer, the task waits for a stream
    /// of it, or for nil when there is none.
    case bodyBegan(stream: BodyAnswer? = nil)

    /// The number of further bytes of the request's body that were sent, and the body's length if it is known.
    case sent(Int64, of: Int64?)

    /// The body must be sent again: a kept-alive connection was lost. The task must be cancelled.
    case needsBody

    /// The timings of the task. Sent just before its end.
    case measured(URLClient.Metrics)

    /// The end, with the last head that the engine received, and its trailers. Always the last event of a task. An
    /// engine that is gone ends its tasks with ``URLClientError/shutDown``.
    case ended(ResponseHead?, error: (any Error)?)
}

/// Takes the request to send instead, or nil for the redirect as the response.
package typealias RedirectAnswer = @Sendable (URLRequest?) -> Void

package typealias BodyAnswer = @Sendable (InputStream?) -> Void

package typealias ChallengeAnswer = @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void

/// A reference to an engine that isn't invalidated while there is one.
package final class RetainedEngine: Sendable {
    package let engine: any Engine
    private let onRelease: @Sendable () -> Void

    /// - Parameter onRelease: called once, when the last reference is released. That must not happen under a lock.
    package init(_ engine: any Engine, onRelease: @escaping @Sendable () -> Void = {}) {
        self.engine = engine
        self.onRelease = onRelease
    }

    deinit {
        onRelease()
    }
}
