internal import DeferredCore

/// The cancellation, the children and the progress of one task, as a pure state machine.
///
/// ```
///            cancel                     end
///   active ──────────▶ cancelled ──────────────▶ ended
///     └───────────────────end───────────────────────▲
/// ```
///
/// Each event returns what its caller has to do, outside of the lock.
struct TaskMachine: ~Copyable {
    typealias Handler = @Sendable () -> Void

    enum Phase: Sendable, Equatable {
        /// The work may still be stopped.
        case active
        /// The work was asked to stop, and has not ended yet.
        case cancelled
        /// The work has ended, or nobody is left who could cancel it.
        case ended
    }

    private(set) var phase = Phase.active
    /// The handler that the task was created with: the oldest one.
    var handler: Handler?
    /// Holds the handlers that were added later; created for the first of them.
    private var newer: FutureStorage<CancellationToken.Ending>?
    /// The task's first registration with a token, taken back at the end. `rare` holds any others.
    private var link: TokenLink?
    /// State that few tasks need; made on first use.
    private var rare: Rare?
    /// The tasks that this one has started, or was combined from.
    var children: Children?
    /// The progress, while somebody follows it.
    var progress: KeptProgress?

    /// State that few tasks need.
    private final class Rare {
        var links: [TokenLink] = []
        /// The number of links at which finished ones are removed.
        var pruningCount = 8
        var consumers = TaskConsumers()
        /// The plain stages derived from the task that were given a node.
        var plainStages: [PlainStage] = []
        /// The number of stages at which those that have ended are removed.
        var plainPruningCount = 8
        /// The object that somebody holds.
        weak var object: TaskProgress?
    }

    init(_ handler: Handler? = nil, children: Children? = nil) {
        self.handler = handler
        self.children = children
    }

    /// True if nothing is registered that a cancellation would call, or that could cancel.
    var isUnobserved: Bool { handler == nil && newer == nil && links.isEmpty }

    var isEnded: Bool { phase == .ended }

    private mutating func makeRare() -> Rare {
        let rare = rare ?? Rare()
        self.rare = rare
        return rare
    }

    // MARK: - Cancelling

    /// The handlers that are registered with the task, and the tokens that would cancel it.
    struct Registered: Sendable {
        var newer: FutureStorage<CancellationToken.Ending>?
        var oldest: Handler?
        var links: [TokenLink] = []

        /// Calls the handlers, newest first, in a level that the caller has entered: if those in `newer` were put off, the
        /// oldest would come before them.
        consuming func call() {
            if let newer = newer.take() { _ = newer.fillNewestFirst(with: .cancelled, isNested: true) }
            oldest.take()?()
        }

        /// Takes back the links, and frees the handlers without calling them. Leaves the caller no reference to them.
        mutating func free() {
            for link in links { link.registration.cancel() }
            newer?.fillDroppingHandlers(with: .abandoned)
            // It may hold a task whose handler holds another, and so on.
            Trampoline.free(&oldest)
        }
    }

    /// Notes a request to stop. Returns what is registered, the first time before the end: the links have to be taken back,
    /// and the handlers called.
    mutating func cancel() -> Registered? {
        guard case .active = phase else { return nil }
        phase = .cancelled
        return takeRegistered()
    }

    /// The task's registrations with tokens.
    var links: [TokenLink] {
        let more = rare?.links ?? []
        return if let link { [link] + more } else { more }
    }

    private mutating func takeRegistered() -> Registered {
        defer {
            link = nil
            rare?.links = []
        }
        return Registered(newer: newer.take(), oldest: handler.take(), links: links)
    }

    /// Notes the end of the work, or that nobody is left who could cancel it. Returns what is registered, the first time: the
    /// links have to be taken back, and the handlers freed.
    mutating func end() -> Registered? {
        guard !isEnded else { return nil }
        phase = .ended
        rare?.consumers = TaskConsumers()
        return takeRegistered()
    }

    /// Returns a token that is cancelled with the task, until its end: handlers are about to be added to it.
    mutating func token() -> CancellationToken {
        switch phase {
        case .ended: return .none
        case .cancelled: return CancellationToken(FutureStorage(filledWith: .cancelled))
        case .active:
            let storage = newer ?? FutureStorage()
            newer = storage
            return CancellationToken(storage)
        }
    }

    /// Keeps a registration with a token until the end or a cancellation. Amortised O(1): removes finished ones when they
    /// may be half of all.
    ///
    /// - Returns: Links to be released, of which some have finished; `nil` if there is nothing left to cancel.
    mutating func keep(_ new: TokenLink) -> [TokenLink]? {
        guard case .active = phase else { return nil }
        if link == nil {
            link = new
            return []
        }
        let rare = makeRare()
        rare.links.append(new)
        guard rare.links.count > rare.pruningCount else { return [] }
        defer {
            rare.links.removeAll { !$0.registration.isPending }
            rare.pruningCount = max(8, 2 * rare.links.count)
        }
        return rare.links
    }

    // MARK: - Children

    /// Releases the children, and what leads from their progress: the task has ended.
    mutating func endChildren() -> (children: [Children.Child], edges: [ProgressEdge]) {
        guard let children else { return ([], []) }
        let (edges, share) = progress?.takeChildren() ?? ([], Share())
        return (children.end(share), edges)
    }

    /// The share of the children: that of a stage.
    func childrenShare(isDone: Bool) -> Share {
        children?.share(progress?.children ?? Share(), isDone: isDone) ?? Share()
    }

    // MARK: - Consumers

    /// Changes the consumers of a shared task. Returns a copy of what they are afterwards.
    mutating func withConsumers(_ body: (inout TaskConsumers) -> Void) -> TaskConsumers {
        guard !isEnded else { return TaskConsumers() }
        let rare = makeRare()
        body(&rare.consumers)
        return rare.consumers
    }

    // MARK: - Plain stages

    var plainStages: [PlainStage] { rare?.plainStages ?? [] }

    /// Keeps the node of a plain stage derived from the task. Returns all of them if many may have ended.
    mutating func keep(_ stage: PlainStage) -> [PlainStage]? {
        let rare = makeRare()
        rare.plainStages.append(stage)
        return rare.plainStages.count > rare.plainPruningCount ? rare.plainStages : nil
    }

    mutating func removePlainStages(_ ended: Set<ObjectIdentifier>) {
        guard let rare else { return }
        rare.plainStages.removeAll { ended.contains(ObjectIdentifier($0.node)) }
        rare.plainPruningCount = max(8, 2 * rare.plainStages.count)
    }

    mutating func takePlainStages() -> [PlainStage] {
        defer { rare?.plainStages = [] }
        return plainStages
    }

    // MARK: - The object

    var object: TaskProgress? { rare?.object }

    /// Shares `new`, unless another thread came first; returns what is shared.
    mutating func share(_ new: TaskProgress) -> TaskProgress {
        let rare = makeRare()
        if let object = rare.object { return object }
        rare.object = new
        return new
    }
}
