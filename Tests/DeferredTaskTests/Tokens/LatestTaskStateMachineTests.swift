import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LatestTaskStateMachineTests {
    private typealias Machine = LatestTaskStateMachine<String>

    /// A machine in each state, with the number of the latest start.
    private static let states: [(name: String, make: @Sendable () -> (Machine, UInt64))] = [
        ("idle", { (Machine(), 0) }),
        (
            "starting",
            {
                var machine = Machine()
                let number = machine.start().number
                return (machine, number)
            }
        ),
        (
            "running",
            {
                var machine = Machine()
                let number = machine.start().number
                _ = machine.started(number, "old")
                return (machine, number)
            }
        ),
    ]

    private func name(_ state: Machine.State) -> String {
        switch state {
        case .idle: "idle"
        case .starting: "starting"
        case .running(let running): "running \(running)"
        }
    }

    @Test(arguments: states.map(\.name)) func `every state and every event`(_ state: String) throws {
        let make = try #require(Self.states.first { $0.name == state }).make
        let running = state == "running" ? "old" : nil
        do {
            var (machine, latest) = make()
            let (number, previous) = machine.start()
            #expect(number == latest + 1 && previous == running && name(machine.state) == "starting")
        }
        do {
            var (machine, latest) = make()
            let previous = machine.cancel()
            let after = machine.deliver(latest)
            #expect(previous == running && !after.mayDeliver && name(machine.state) == "idle")
        }
        if latestIsPending(state) {
            var (machine, latest) = make()
            let (mayDeliver, ended) = machine.deliver(latest)
            #expect(mayDeliver && ended == running && name(machine.state) == "idle")
            let superseded = machine.deliver(latest - 1)
            #expect(!superseded.mayDeliver)
        }
        do {
            // A superseded task is returned, to be stopped, and changes nothing.
            var (machine, latest) = make()
            let before = name(machine.state)
            let refused = machine.started(latest &- 1, "late")
            let delivered = machine.deliver(latest &- 1)
            #expect(refused == "late" && !delivered.mayDeliver && delivered.ended == nil)
            #expect(name(machine.state) == before)
        }
        if state == "starting" {
            var (machine, latest) = make()
            let refused = machine.started(latest, "new")
            #expect(refused == nil && name(machine.state) == "running new")
        }
    }

    private func latestIsPending(_ state: String) -> Bool { state != "idle" }

    @Test func `delivered before it is known how to stop it, it is not kept`() {
        var machine = Machine()
        let number = machine.start().number
        let mayDeliver = machine.deliver(number).mayDeliver
        let toStop = machine.started(number, "ended")
        #expect(mayDeliver && toStop == nil && name(machine.state) == "idle")
    }

    private enum Event: Hashable { case start, started, deliver, cancel }

    /// Tests all interleavings of three starts and a cancellation on different threads.
    @Test func `in every interleaving, only the latest task delivers, and all others are stopped`() {
        let threads: [[[Event]]] = Array(
            repeating: [[.start, .started, .deliver], [.start, .deliver, .started]],
            count: 3
        )
        var count = 0
        for orders in product(threads) {
            explore(orders + [[.cancel]], [0, 0, 0, 0]) { schedule in
                count += 1
                check(schedule)
            }
        }
        #expect(count == 8 * 16_800)
    }

    private func check(_ schedule: [(thread: Int, event: Event)]) {
        var machine = LatestTaskStateMachine<Int>()
        var numbers: [Int: UInt64] = [:]
        var (latest, delivered, stopped) = (-1, Set<Int>(), Set<Int>())
        for (thread, event) in schedule {
            switch event {
            case .start:
                let (number, previous) = machine.start()
                numbers[thread] = number
                if let previous { stopped.insert(previous) }
                latest = thread
            case .started:
                if let running = machine.started(numbers[thread]!, thread) { stopped.insert(running) }
            case .deliver:
                let mayDeliver = machine.deliver(numbers[thread]!).mayDeliver
                if mayDeliver != (latest == thread) { Issue.record("\(schedule)") }
                if mayDeliver { delivered.insert(thread) }
            case .cancel:
                if let previous = machine.cancel() { stopped.insert(previous) }
                latest = -1
            }
        }
        // Each task was delivered, or it is stopped by the later of `started` and the event that superseded it.
        if (0..<3).contains(where: { !delivered.contains($0) && !stopped.contains($0) }) { Issue.record("\(schedule)") }
        if case .idle = machine.state { return }
        Issue.record("something is kept after \(schedule)")
    }

    private func product(_ choices: [[[Event]]]) -> [[[Event]]] {
        choices.reduce([[]]) { all, choice in all.flatMap { head in choice.map { head + [$0] } } }
    }

    private func explore(
        _ threads: [[Event]],
        _ done: [Int],
        _ schedule: [(thread: Int, event: Event)] = [],
        _ body: ([(thread: Int, event: Event)]) -> Void
    ) {
        var isOver = true
        for thread in threads.indices where done[thread] < threads[thread].count {
            isOver = false
            var next = done
            next[thread] += 1
            explore(threads, next, schedule + [(thread, threads[thread][done[thread]])], body)
        }
        if isOver { body(schedule) }
    }
}
