internal import DeferredCore

/// Decides which tasks of an engine may have a connection: up to a limit per origin, in the order of their arrival.
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

    /// The tasks of one origin.
    private struct Line {
        var sharedCount = 0
        var ownCount = 0

        /// True while the first of the shared tasks connects. Only then it is known whether the others need connections.
        var isConnecting = false

        /// True once the server has answered in HTTP/2.
        var isMultiplexed = false

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

        private mutating func start(_ kind: Kind) {
            switch kind {
            case .shared:
                isConnecting = sharedCount == 0 && !isMultiplexed
                sharedCount += 1
            case .own:
                ownCount += 1
            }
        }

        /// Returns true if a new task has started, and false if it waits.
        mutating func arrive(_ task: Int, _ kind: Kind, limit: Int) -> Bool {
            let isFirst = kind == .shared ? waitingShared.isEmpty : waitingOwn.isEmpty
            if isFirst, hasRoom(for: kind, limit: limit) {
                start(kind)
                return true
            }
            switch kind {
            case .shared: waitingShared.append(task)
            case .own: waitingOwn.append(task)
            }
            return false
        }

        mutating func leave(_ kind: Kind, hadConnected: Bool) {
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
        mutating func next(limit: Int, isWaiting: (Int) -> Bool) -> (task: Int, kind: Kind)? {
            while let task = waitingShared.first, !isWaiting(task) { _ = waitingShared.popFirst() }
            while let task = waitingOwn.first, !isWaiting(task) { _ = waitingOwn.popFirst() }
            let shared = hasRoom(for: .shared, limit: limit) ? waitingShared.first : nil
            let own = hasRoom(for: .own, limit: limit) ? waitingOwn.first : nil
            // Identifiers grow, so the smaller one has waited longer.
            let kind: Kind = (own ?? .max) < (shared ?? .max) ? .own : .shared
            guard let task = kind == .own ? waitingOwn.popFirst() : shared != nil ? waitingShared.popFirst() : nil
            else { return nil }
            start(kind)
            return (task, kind)
        }

        mutating func removeStale(isWaiting: (Int) -> Bool) {
            waitingShared.filter(isWaiting)
            waitingOwn.filter(isWaiting)
        }
    }

    private var lines: [String: Line] = [:]

    /// The waiting tasks. Those that are removed stay in their line until it is their turn.
    private var waiting: Set<Int> = []

    /// The number of removed tasks that are still in a line: at most 64 more than tasks that wait.
    private(set) var staleCount = 0

    private let limit: Int

    /// - Parameter limit: The maximum number of connections per origin.
    init(limit: Int) {
        self.limit = max(1, limit)
    }

    /// True if no task runs or waits.
    var isEmpty: Bool { lines.isEmpty }

    /// Returns true if a new task may run at once; otherwise it waits.
    mutating func arrived(_ task: Int, _ kind: Kind, at origin: String) -> Bool {
        if lines[origin, default: Line()].arrive(task, kind, limit: limit) { return true }
        waiting.insert(task)
        return false
    }

    /// Notes that a running shared task has a connection.
    mutating func connected(to origin: String) {
        lines[origin]?.isConnecting = false
    }

    /// Notes that a shared task got an answer.
    mutating func answered(at origin: String, isMultiplexed: Bool) {
        lines[origin]?.isConnecting = false
        lines[origin]?.isMultiplexed = isMultiplexed
    }

    /// Notes that a running task no longer needs its connection. ``next(at:)`` has to be called afterwards.
    ///
    /// - Parameter hadConnected: False if the task has ended before ``connected(to:)``.
    mutating func left(_ kind: Kind, of origin: String, hadConnected: Bool) {
        lines[origin]?.leave(kind, hadConnected: hadConnected)
    }

    /// Removes a task that waits. Amortised O(1).
    mutating func remove(_ task: Int) {
        guard waiting.remove(task) != nil else { return }
        staleCount += 1
        if staleCount > waiting.count + 64 { removeStale() }
    }

    /// Removes and returns the next task of an origin that may run now. Amortised O(1).
    mutating func next(at origin: String) -> (task: Int, kind: Kind)? {
        let next = lines[origin]?.next(limit: limit) { task in
            if waiting.contains(task) { return true }
            staleCount -= 1
            return false
        }
        if let next {
            waiting.remove(next.task)
        } else if lines[origin]?.isEmpty == true {
            lines[origin] = nil
        }
        return next
    }

    private mutating func removeStale() {
        staleCount = 0
        for origin in lines.keys { lines[origin]?.removeStale(isWaiting: waiting.contains) }
    }
}
