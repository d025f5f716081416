internal import DeferredCore
import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request from its admission to its end, with as many attempts as the policies want, and as many tasks as its
/// redirects and challenges require.
///
/// This is the storage over ``ExchangeStateMachine``: it takes the lock, feeds the event, releases the lock, and
/// performs what was decided. Steps of the whole request are performed at once. Actions of the attempt wait in a queue
/// that one thread at a time empties, so that the receiver gets them one by one and in the order in which they were
/// decided, whichever threads the events come from.
///
/// A running exchange is retained by its engine; it needs no owner, and releasing it doesn't cancel it.
package final class Exchange: Sendable {
    typealias Machine = ExchangeStateMachine

    /// The end of the caller's task. A structure, since a closure that a lock gives out is wrapped in others on its way.
    struct Completion: Sendable {
        /// Makes the caller's value, calls `conclude` with the error if there is none, and ends the task.
        typealias Body =
            @Sendable (_ result: Result<ReceivedResponse, any Error>, _ conclude: ((any Error)?) -> Void) -> Void

        let body: Body
    }

    struct State {
        var machine: Machine

        /// Nil while a thread performs its actions, or they wait until cookies are stored.
        var attempt: Attempt?

        var parts: Parts
        var retained: RetainedEngine?

        /// Released with the result: its task would otherwise retain a stream's body, whose release cancels the exchange.
        var completion: Completion?

        /// Ends the question for a credential, or the pause.
        var stop: (@Sendable () -> Void)?

        /// The deadline of the whole request.
        var timer: ClockTimer?
        var challenge: URLAuthenticationChallenge?

        /// The answer to a redirect, for which the platform's task waits.
        var redirectAnswer: RedirectAnswer?

        /// Takes the attempt, if there are actions to perform, and no other thread has it.
        mutating func take(_ taken: inout Attempt?) {
            if !machine.actions.isEmpty { swap(&taken, &attempt) }
        }

        /// Takes the next action to perform on an attempt. If there is none, takes that back.
        mutating func next(_ taken: inout Attempt?) -> Machine.Action? {
            if let action = machine.actions.popFirst() { return action }
            swap(&taken, &attempt)
            return nil
        }
    }

    /// The objects that actions are performed on.
    struct Parts {
        var task: (any EngineTask)?
        var delegate: (any ExchangeDelegate)?

        /// Those of the attempt; nil if the engine's settings have none.
        var deadlines: AttemptDeadlines?
    }

    /// The part that only the thread that performs actions touches. It is moved, and never copied: a receiver that gathers a
    /// body in memory would copy that with each piece.
    ///
    /// Not `~Copyable`: Swift 6.3.1 leaks the members of such a value where one branch in a loop consumes it. Test:
    /// `LongOperationTests`, "its last events cost no more than its first ones".
    struct Attempt {
        var receiver: any ResponseReceiver

        /// The error that the receiver threw: it gets nothing but the end then, and no result that was decided before can
        /// turn that into a success.
        var error: (any Error)?

        /// The body of a response that the receiver has refused.
        var refused: RefusedBody?

        init(_ receiver: any ResponseReceiver) { self.receiver = receiver }
    }

    /// The settings of an exchange, besides its request and its receiver.
    struct Settings: Sendable {
        /// The number of the request in its transport.
        var identifier: UInt64 = 0

        /// Nil for a request that nobody admits.
        var transport: Transport?
        var policies = RequestPolicies.none
        var redirects = URLClient.RedirectPolicy.follow()

        /// The header fields, in lower case, that no redirect takes to another origin.
        var originBoundFields: Set<String> = []

        /// Kept instead of the platform's; nil for those of the engine's settings.
        var deadlines: URLClient.Deadlines?
        var clock: any Clock<Duration> = ContinuousClock()

        /// The idle deadline of this request alone, which its own time-out doesn't change.
        var idle: Duration?

        /// The time limit of the whole request.
        var total: Duration?
        var events: EventReporter?

        /// Gets the interim heads of each response.
        var onInterimResponse: (@Sendable (ResponseHead) -> Void)?

        /// Stands for the caller's task, also that of a chain whose terminal loader is the client.
        var reporter: ProgressReporter?

        /// Separates stored responses from others of the same URL.
        var cachePartition: String?

        /// The highest rate at which the body is received, in bytes a second; nil for no limit.
        var rateLimit: Int?

        /// Applied to each platform task before it is resumed.
        var configure: EngineTaskConfiguration?
    }

    let settings: Settings

    /// For the caller's closures, if there are any: about challenges, redirects, retries and interim responses.
    let locals: TaskLocals?
    let state: Lock<State>

    var parts: Parts { state.withLock { $0.parts } }

    /// The URL of the caller's request.
    let url: URL

    /// True if somebody receives ``EngineEvent/measured(_:)``, so that an engine need not measure in vain.
    let isMeasured: Bool

    /// True if the response should have a connection for itself: see ``ResponseReceiver/wantsOwnConnection``.
    let wantsOwnConnection: Bool

    var identifier: UInt64 { settings.identifier }
    var events: EventReporter? { settings.events }

    init(
        _ request: CheckedRequest,
        _ settings: Settings,
        delegate: (any ExchangeDelegate)? = nil,
        to attempt: Attempt,
        completion: Completion
    ) {
        url = request.url
        let hasClosures =
            settings.redirects.isCustom || settings.policies.hasClosures || settings.onInterimResponse != nil
        locals = hasClosures ? TaskLocals(ofRunningCode: ()) : nil
        wantsOwnConnection = attempt.receiver.wantsOwnConnection || settings.rateLimit != nil
        let delegate = delegate ?? settings.events
        isMeasured = delegate?.isMeasured ?? false
        state = Lock(
            State(
                machine: Machine(
                    request,
                    settings.policies,
                    redirectLimit: settings.redirects.limit,
                    originBoundFields: settings.originBoundFields
                ),
                attempt: attempt,
                parts: Parts(delegate: delegate),
                completion: completion
            )
        )
        self.settings = settings
    }

    // MARK: For the receiver

    /// Returns true if the policies accept the status.
    func accepts(_ head: ResponseHead) -> Bool {
        !head.isHTTP || settings.policies.validation.accepts(head.status)
    }

    /// True once the request has ended for its caller, also if its receiver is still at work.
    var hasEnded: Bool { state.withLock { $0.machine.hasEnded } }

    /// Returns true if no other attempt would follow a response with this head.
    func isFinal(_ head: ResponseHead) -> Bool {
        let (isChallenge, question) = state.withLock { state in
            (state.machine.isChallenge(head), state.machine.question(after: head, or: nil))
        }
        guard !isChallenge, let question else { return !isChallenge }
        return locals.restore { question(Date()) } == nil
    }

    /// Pauses or resumes reading the response, if the engine supports it: see ``EngineTask/pause(while:)``.
    package func pause(while isPaused: @escaping @Sendable () -> Bool) {
        task?.pause(while: isPaused)
    }

    /// Suspends the idle deadline while `isForgiven` returns true: then the reader causes the silence.
    func forgiveSilence(while isForgiven: @escaping @Sendable () -> Bool) {
        parts.deadlines?.forgiveSilence(while: isForgiven)
    }

    // MARK: For the engine

    /// The task that sends the current request, once it was made.
    var task: (any EngineTask)? { parts.task }

    /// The engine, which isn't invalidated while this reference to it is retained.
    var retained: RetainedEngine? { state.withLock { $0.retained } }

    /// True if the response may be kept in a cache.
    var isCacheable: Bool { state.withLock { $0.machine.request.isCacheable } }
}
