/// The state shared by the copies of a ``Throttle``.
final class ThrottleGate: Sendable {
    private let waiting: WaitingTasks<ThrottleStateMachine, any HTTPLoader>

    init(maximum: Int) {
        waiting = WaitingTasks(ThrottleStateMachine(maximum: maximum))
    }

    var waitingCount: Int { waiting.withMachine { $0.waitingCount } }

    var maximum: Int {
        get { waiting.withMachine { $0.maximum } }
        set {
            waiting.withMachine { $0.setMaximum(newValue) }
            startWaiting()
        }
    }

    /// Passes `task` on to `next` when it is its turn, unless it is cancelled before.
    func enter(_ task: HTTPTask, next: any HTTPLoader) {
        let goesOn = waiting.enter(task, next) { machine, ticket in
            // If an ApplyEnvironment comes after this loader, a request may have its own environment.
            machine.arrived(ticket, host: task.request.host ?? task.request.environment?.host ?? "")
        }
        if goesOn { start(task, next) }
    }

    private func start(_ task: HTTPTask, _ next: any HTTPLoader) {
        task.execution.whenEnded { result in
            // A stream keeps its place until its end.
            if let stream = result.arrived?.stream {
                stream.addEndHandler { _ in self.end() }
            } else {
                self.end()
            }
        }
        task.pass(to: next)
    }

    private func end() {
        let mayGoOn = waiting.withMachine { machine in
            machine.ended()
            return machine.waitingCount > 0
        }
        if mayGoOn { startWaiting() }
    }

    /// Starts waiting tasks in a loop: tasks that complete as soon as they are loaded would otherwise start each other
    /// recursively.
    private func startWaiting() {
        Turns.run { self.startNext() }
    }

    private func startNext() -> Bool {
        let waiter = waiting.next { $0.next() }
        if let waiter { waiter.task.execution.later { start(waiter.task, waiter.context) } }
        return waiter != nil
    }
}
