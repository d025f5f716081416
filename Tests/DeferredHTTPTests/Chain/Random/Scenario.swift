/// A random use of chains: the loaders, the requests, the answers of the network, and what happens when.
///
/// It is a value that says nothing of the library: ``ChainModel`` and ``ChainRun`` do the same with it. Any part can be
/// left out, and the rest is still a scenario.
struct Scenario: Sendable {
    var seed: UInt64
    /// The loaders, to which the links of the chains refer: one value can be in several places.
    var values: [Loader] = []
    /// The chains in which requests are loaded, and then the one to which ``Loader/fallback`` and ``Loader/router``
    /// lead.
    var chains: [Chain] = []
    var asks: [Ask] = []
    /// The outcomes of token refreshes, in order; the last one is repeated.
    var refreshes: [Refresh] = []
    var triggers: [Trigger] = []
    var steps: [Step] = []

    static let sideChain = 2

    struct Chain: Sendable {
        var links: [Int]
        var joining = Joining.existential
        var lacksTerminal = false
        /// True if the reset of the terminal loader takes until a step ends it.
        var resetsLater = false

        /// A chain has a link at least, or a terminal loader.
        var hasTerminal: Bool { !lacksTerminal || links.isEmpty }
    }

    /// The ways in which a chain can be put together, all of which give the same one.
    enum Joining: String, Sendable, CaseIterable {
        /// From right to left, each link as an `any HTTPLink`.
        case existential
        /// From left to right, each link at the end of the chain before it.
        case leftToRight
        /// With another terminal loader, which is replaced at the end.
        case replacing
        /// From right to left, by a function that is generic over the type of the link.
        case generic
    }

    enum Loader: Sendable, Equatable {
        case resetGuard, autocancel, deduplicate, validate, basic, bearer, followRedirects, log, intercept, rateLimit
        case retry(attempts: Int, pauses: Bool), backoff(attempts: Int)
        case throttle(maximum: Int)
        /// Marks requests, and refuses those to one path.
        case modify(refused: Int?)
        case environment
        case deadline
        case fallback, router
        case custom(Custom)
    }

    /// Loaders that somebody might write.
    enum Custom: String, Sendable, CaseIterable {
        /// Passes the task itself on.
        case same
        /// Passes a marked request on.
        case mark
        /// Watches the cancellation and the completion of the task, with two handlers each, and those of the trigger.
        case watch
        /// Has an empty response where there is none.
        case empty
        /// Loads once more after a 503.
        case again
        /// Answers requests to path 2.
        case answer
        /// Forgets requests to path 2.
        case drop
        /// Completes each task twice.
        case twice
        /// Keeps tasks until a step lets the oldest go.
        case hold
        /// An object that marks requests.
        case object
        /// An object that passes the task itself on.
        case passingObject
    }

    struct Ask: Sendable {
        var chain = 0
        var path = 0
        var isPost = false
        var host: String? = "a"
        var isStream = false
        var isThrottled = true
        var isDeduplicated: Bool?
        var isAuthenticated = true
        var isRetried = true
        /// True for a deadline of its own.
        var hasDeadline = false
        var isCancelledBefore = false
        var form = Form.task
        var answers: [Answer] = []

        /// The ways to load a request.
        enum Form: Sendable { case task, request, closure }
    }

    struct Answer: Sendable {
        var outcome = Outcome.status(200)
        /// True if a step gives the answer.
        var isHeld = false
        /// True if the answer comes even to a task that is cancelled.
        var ignoresCancel = false
    }

    enum Outcome: Sendable, Equatable {
        case status(Int)
        case redirect(isAway: Bool)
        case connectionLost, cannotConnect
        /// Releases the task.
        case release
    }

    struct Refresh: Sendable {
        var succeeds = true
        var isHeld = false
        var ignoresCancel = false
    }

    /// Something that happens when a request passes a ``Custom/watch`` for the first time, or its result does.
    struct Trigger: Sendable {
        var value: Int
        var ask: Int
        var isReturn: Bool
        var deed: Deed
    }

    enum Deed: Sendable, Equatable {
        case cancel(Int), complete(Int), reset(Int)
    }

    enum Step: Sendable, Equatable {
        /// Loads the request with this number, once.
        case load(Int)
        case deed(Deed)
        /// Answers one of the requests that the network holds.
        case answer(Int)
        case endReset
        case endRefresh(succeeds: Bool)
        /// Lets the oldest task go that a ``Custom/hold`` keeps.
        case letGo
        /// Lets the time pass until the next timer fires.
        case advance
        /// Ends one of the open bodies.
        case endBody(Int, BodyEnd)
    }

    enum BodyEnd: Sendable, CaseIterable { case read, cancel, drop }

    /// True if no request is to start another one at once. Of two that start in one step, either can come first, and
    /// with two throttles that can decide which of them waits.
    var startsOneByOne: Bool {
        let throttles = chains.flatMap(\.links).filter {
            if case .throttle = values[$0] { true } else { false }
        }
        return Set(throttles).count > 1
    }

    /// True if it can be seen when a timer has ended a request in a loader that lets requests wait: there is a
    /// ``Custom/watch`` before it, wherever there are timers.
    var isClear: Bool {
        chains[..<2].allSatisfy { chain in
            let hasTimers = chain.links.contains { value in
                switch values[value] {
                case .deadline, .autocancel, .retry(_, pauses: true): true
                default: false
                }
            }
            return !hasTimers
                || chain.links.indices.allSatisfy { index in
                    guard values[chain.links[index]].letsWait else { return true }
                    return index > 0 && values[chain.links[index - 1]] == .custom(.watch)
                }
        }
    }

    /// True if a Swift task takes part in each request, so that the library needs a moment.
    var hops: Bool { values.contains(.intercept) && chains.contains { $0.links.contains { values[$0] == .intercept } } }
}

extension Scenario.Loader {
    /// True if requests wait in this loader for others, or for a token.
    var letsWait: Bool {
        switch self {
        case .bearer, .deduplicate, .throttle: true
        default: false
        }
    }
}
