/// A cancellable call by a clock.
final class ModelTimer: @unchecked Sendable {
    var isCancelled = false
}

/// A clock, with the pending work of the Swift tasks that sleep on it, in order.
final class ModelClock: @unchecked Sendable {
    private var now = 0
    private var sleeping: [(deadline: Int, timer: ModelTimer, body: @Sendable () -> Void)] = []
    private var jobs: [@Sendable () -> Void] = []

    @discardableResult
    func timer(after seconds: Int, _ body: @escaping @Sendable () -> Void) -> ModelTimer {
        let (timer, deadline) = (ModelTimer(), now + seconds)
        jobs.append { [self] in
            if timer.isCancelled { return }
            if deadline <= now { return body() }
            sleeping.append((deadline, timer, body))
        }
        return timer
    }

    func advance(_ seconds: Int) {
        now += seconds
        sleeping.removeAll { $0.timer.isCancelled }
        // In the order of deadlines and, where these are equal, in the order of falling asleep.
        for deadline in Set(sleeping.map(\.deadline)).sorted() where deadline <= now {
            jobs += sleeping.filter { $0.deadline == deadline }.map(\.body)
        }
        sleeping.removeAll { $0.deadline <= now }
    }

    func run() {
        while !jobs.isEmpty { jobs.removeFirst()() }
    }
}
