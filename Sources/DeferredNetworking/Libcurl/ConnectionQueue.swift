internal import DeferredCore

/// Decides which tasks of an engine may have a connection, up to a limit per origin, in the order of their arrival; and on
/// which of the engine's threads they run.
///
/// A task runs on the thread that has the fewest tasks of its origin, and of all origins among those; so one request after
/// another uses one connection. Those that share a connection share its thread.
///
/// libcurl's own limit wakes up one waiting transfer for each connection that becomes free, whatever its host, so that a
/// host that doesn't answer would hold up all others.
struct ConnectionQueue {
    enum Kind {
        /// The task shares a connection with others if the server speaks HTTP/2.
        case shared

        /// The task has a connection of its own.
        case own
    }

    /// A task that may run, and the index of its thread.
    struct Start: Equatable {
        let task: Int
        let kind: Kind
        let thread: Int
    }

    /// A number of tasks for each thread.
    private typealias Counts = SIMD8<Int32>

    /// The most threads among which tasks are divided.
    static let mostThreads = Counts.scalarCount

    /// The tasks of one origin. An object, since to change a structure in a dictionary takes longer than all the rest.
    private final class Line {
        var sharedCount = 0
        var ownCount = 0

        /// The running tasks of each thread.
        var counts = Counts.zero

        /// The thread of the connection that shared tasks use.
        var sharedThread = 0

        /// True while the first of the shared tasks connects. Only then it is known whether the others need connections.
        var isConnecting = false

        /// True if the connection that shared tasks have isn't for new ones.
        var mustConnect = false

        /// True once the server has answered in HTTP/2, and false once it has answered in another version.
        var speaksHTTP2: Bool?
        var isMultiplexed: Bool { speaksHTTP2 == true }

        /// The time when something last came for one of the tasks.
        var lastReceived: ContinuousClock.Instant?

        var waitingShared = Queue<Int>()
        var waitingOwn = Queue<Int>()

        var isEmpty: Bool { sharedCount == 0 && ownCount == 0 && waitingShared.isEmpty && waitingOwn.isEmpty }

        /// Returns whether one more task may run.
        func hasRoom(for kind: Kind, limit: Int) -> Bool {
            switch kind {
            case .shared:
                !isConnecting && (isMultiplexed && sharedCount > 0 || connectionCount < limit)
            case .own:
                // Never none, or else a limit of 1 would let shared tasks hold up the others for good.
                ownCount < (isMultiplexed && sharedCount > 0 ? max(1, limit - 1) : limit - sharedCount)
            }
        }

        private var connectionCount: Int { ownCount + (isMultiplexed ? min(1, sharedCount) : sharedCount) }

        /// Counts a task that starts, and returns the thread that it runs on.
        private func start(_ kind: Kind, _ loads: Counts, threads: Int) -> Int {
            let joins = kind == .shared && speaksHTTP2 ?? (sharedCount > 0)
            let thread = joins ? sharedThread : leastLoaded(loads, threads: threads)
            switch kind {
            case .shared:
                isConnecting = mustConnect || sharedCount == 0 && !isMultiplexed
                mustConnect = false
                sharedCount += 1
                sharedThread = thread
            case .own:
                ownCount += 1
            }
            counts[thread] += 1
            return thread
        }

        private func leastLoaded(_ loads: Counts, threads: Int) -> Int {
            (0..<threads).min { (counts[$0], loads[$0]) < (counts[$1], loads[$1]) } ?? 0
        }

        /// Returns the thread on which a new task has started, or nil if it waits.
        func arrive(_ task: Int, _ kind: Kind, limit: Int, _ loads: Counts, threads: Int) -> Int? {
            let isFirst = kind == .shared ? waitingShared.isEmpty : waitingOwn.isEmpty
            if isFirst, hasRoom(for: kind, limit: limit) { return start(kind, loads, threads: threads) }
            switch kind {
            case .shared: waitingShared.append(task)
            case .own: waitingOwn.append(task)
            }
            return nil
        }

        func leave(_ kind: Kind, _ thread: Int, hadConnected: Bool) {
            counts[thread] -= 1
            switch kind {
            case .shared:
                sharedCount -= 1
                // Another one connects next.
                if !hadConnected { isConnecting = false }
            case .own:
                ownCount -= 1
            }
        }

        /// Starts the next task for which there is room, and returns it.
        func next(limit: Int, _ loads: Counts, threads: Int, isWaiting: (Int) -> Bool) -> Start? {
            while let task = waitingShared.first, !isWaiting(task) { _ = waitingShared.popFirst() }
            while let task = waitingOwn.first, !isWaiting(task) { _ = waitingOwn.popFirst() }
            let shared = hasRoom(for: .shared, limit: limit) ? waitingShared.first : nil
            let own = hasRoom(for: .own, limit: limit) ? waitingOwn.first : nil
            // Identifiers grow, so the smaller one has waited longer.
            let kind: Kind = (own ?? .max) < (shared ?? .max) ? .own : .shared
            guard let task = kind == .own ? waitingOwn.popFirst() : shared != nil ? waitingShared.popFirst() : nil
            else { return nil }
            return Start(task: task, kind: kind, thread: start(kind, loads, threads: threads))
        }

        func removeStale(isWaiting: (Int) -> Bool) {
            waitingShared.filter(isWaiting)
            waitingOwn.filter(isWaiting)
        }
    }

    private var lines: [String: Line] = [:]

    /// The waiting tasks. Those that are removed stay in their line until it is their turn.
    private var waiting: Set<Int> = []

    /// The number of removed tasks that are still in a line: at most 64 more than tasks that wait.
    private(set) var staleCount = 0

    /// The running tasks of each thread, of all origins.
    private var loads = Counts.zero

    private let limit: Int
    private let threads: Int

    /// - Parameters:
    ///   - limit: The maximum number of connections per origin.
    ///   - threads: The number of threads, up to ``mostThreads``.
    init(limit: Int, threads: Int = 1) {
        self.limit = max(1, limit)
        self.threads = threads
    }

    /// True if no task runs or waits.
    var isEmpty: Bool { lines.isEmpty }

    /// Returns the thread on which a new task may run at once, or nil if it waits.
    mutating func arrived(_ task: Int, _ kind: Kind, at origin: String) -> Int? {
        let line = lines[origin] ?? Line()
        if line.isEmpty { lines[origin] = line }
        guard let thread = line.arrive(task, kind, limit: limit, loads, threads: threads) else {
            waiting.insert(task)
            return nil
        }
        loads[thread] += 1
        return thread
    }

    /// Notes that a running shared task has a connection.
    mutating func connected(to origin: String) {
        lines[origin]?.isConnecting = false
    }

    /// Notes that a shared task got an answer.
    mutating func answered(at origin: String, isMultiplexed: Bool) {
        let line = lines[origin]
        line?.isConnecting = false
        line?.speaksHTTP2 = isMultiplexed
    }

    /// Notes that something came for a running task.
    mutating func received(at origin: String, _ now: ContinuousClock.Instant) {
        lines[origin]?.lastReceived = now
    }

    /// The time when something last came for a task of an origin; nil if nothing has since there are such tasks.
    func lastReceived(at origin: String) -> ContinuousClock.Instant? { lines[origin]?.lastReceived }

    /// Notes that the next shared task has to make a new connection, for which others wait.
    mutating func renewed(_ origin: String) {
        lines[origin]?.mustConnect = true
    }

    /// Notes that a running task no longer needs its connection. ``next(at:)`` has to be called afterwards.
    ///
    /// - Parameters:
    ///   - hadConnected: False if the task has ended before ``connected(to:)``.
    ///   - lastReceived: The time when something last came for it, if that was now.
    mutating func left(
        _ kind: Kind,
        of origin: String,
        on thread: Int,
        hadConnected: Bool,
        lastReceived: ContinuousClock.Instant? = nil
    ) {
        let line = lines[origin]
        if let lastReceived { line?.lastReceived = lastReceived }
        line?.leave(kind, thread, hadConnected: hadConnected)
        loads[thread] -= 1
    }

    /// Removes a task that waits. Amortised O(1).
    mutating func remove(_ task: Int) {
        guard waiting.remove(task) != nil else { return }
        staleCount += 1
        if staleCount > waiting.count + 64 { removeStale() }
    }

    /// Removes and returns the next task of an origin that may run now. Amortised O(1).
    mutating func next(at origin: String) -> Start? {
        guard let line = lines[origin] else { return nil }
        let next = line.next(limit: limit, loads, threads: threads) { task in
            if waiting.contains(task) { return true }
            staleCount -= 1
            return false
        }
        if let next {
            waiting.remove(next.task)
            loads[next.thread] += 1
        } else if line.isEmpty {
            lines[origin] = nil
        }
        return next
    }

    private mutating func removeStale() {
        staleCount = 0
        for line in lines.values { line.removeStale(isWaiting: waiting.contains) }
    }
}
