import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

/// Tests that observing a task retains nothing that is over, neither of the observation nor of the task.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressLifetimeTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    #if os(macOS) || os(Linux)
    @Test func `polls leave nothing with the task`() async {
        await #expect(processExitsWith: .success) {
            await staysFlat(20_000) { _ = $0.progress.fractionCompleted }
        }
    }

    @Test func `cancelled observers leave nothing with the task`() async {
        await #expect(processExitsWith: .success) {
            await staysFlat(20_000) { $0.uponProgress(on: .immediate) { _ in }.cancel() }
        }
    }

    @Test func `loops that are left leave nothing with the task`() async {
        await #expect(processExitsWith: .success) {
            await staysFlat(20_000) { task in
                for await _ in task.progressUpdates { break }
            }
        }
    }
    #endif

    @Test func `a child that has ended is freed while its parent is watched`() {
        for isHeld in [false, true] {
            let producers = (0..<3).map { _ in Producer() }
            let reporters = (0..<3).map { _ in ProgressReporter(total: 1) }
            let lifetimes = Lifetimes()
            let controls = Lock<[WeakControl]>([])
            let parent = (0..<3).mapTasks(maxConcurrent: 2) { index in
                let root = Task(producers[index], reporter: reporters[index]) { [token = lifetimes.make()] in
                    token.touch()
                }
                let task = root.map { $0 }
                controls.withLock { $0 += [WeakControl(root.control), WeakControl(task.control)] }
                return task
            }
            var alive: Int { controls.withLock { $0.count { $0.control != nil } } }
            let progress = isHeld ? parent.progress : nil
            let registration = isHeld ? nil : parent.uponProgress(on: .immediate) { _ in }
            #expect(alive == 4)
            producers[0].succeed(with: 1)
            // The third task has begun.
            #expect(alive == 4)
            producers[1].succeed(with: 1)
            #expect(alive == 2 && lifetimes.count == 1)
            withExtendedLifetime((progress, registration, parent)) {}
        }
    }
}

private struct WeakControl: Sendable {
    weak var control: TaskControl?

    init(_ control: TaskControl?) {
        self.control = control
    }
}

/// Returns tasks that never end: without children, and with some.
private func subjects() -> [Task<Int>] {
    let root = Task(Deferred<Task<Int>.Result>(), reporter: ProgressReporter(total: 10)).map { $0 }
    let children = (0..<3).map { _ in Task(Deferred<Task<Int>.Result>(), reporter: ProgressReporter()) }
    return [root, children.allSucceeded().map { $0.count }]
}

/// Traps if each of many rounds leaves something in memory: the smallest object takes 32 bytes.
private func staysFlat(_ rounds: Int, _ body: (Task<Int>) async -> Void) async {
    for task in subjects() {
        for _ in 0..<1_000 { await body(task) }
        let limit = 28 * rounds
        let growth = await leastGrowth(below: limit) { times in
            for _ in 0..<(isSanitized ? rounds / 10 : rounds * times) { await body(task) }
        }
        precondition(isSanitized || growth < limit, "\(growth) bytes more than before")
    }
}
