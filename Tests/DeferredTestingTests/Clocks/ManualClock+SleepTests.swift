import DeferredCore
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ManualClockSleepTests {
    @Test func `cancelling wakes a sleeper at once, and leaves the others asleep`() async throws {
        let clock = ManualClock()
        let other = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers(2)
        task.cancel()
        #expect(clock.sleeperCount == 1)
        await #expect(throws: CancellationError.self) { try await task.value }
        clock.advance(by: .seconds(1))
        try await other.value
    }

    @Test func `a task that is cancelled already does not fall asleep, not even when due`() async {
        let clock = ManualClock()
        let mayGo = Deferred<Void>()
        let task = Task {
            await mayGo.value
            await #expect(throws: CancellationError.self) { try await clock.sleep(for: .seconds(1)) }
            await #expect(throws: CancellationError.self) { try await clock.sleep(for: .zero) }
        }
        task.cancel()
        mayGo.fill()
        await task.value
        #expect(clock.sleeperCount == 0)
    }

    @Test func `cancelling one that was woken changes nothing`() async throws {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        task.cancel()
        try await task.value
    }

    @Test func `a cancellation at any moment of falling asleep is seen`() async {
        let clock = ManualClock()
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2_000 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            await giveWay(using: &random)
            task.cancel()
            // Nobody advances the clock: with a lost cancellation, the task would sleep for ever.
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test func `sleeping, advancing and cancelling at a time, each sleeper wakes once`() async throws {
        let clock = ManualClock()
        let ends = Log<Bool>()
        let count = 2_000
        let tasks = (0..<count).map { index in
            Task {
                do {
                    try await clock.sleep(for: .milliseconds(index % 50))
                    ends.add(true)
                } catch {
                    ends.add(false)
                }
            }
        }
        let isOver = Deferred<Void>()
        await withTaskGroup { group in
            for _ in 0..<2 {
                group.addTask {
                    while !isOver.isFilled {
                        clock.advance(by: .milliseconds(1))
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for task in tasks.enumerated() where task.offset.isMultiple(of: 3) {
                    task.element.cancel()
                    await Task.yield()
                }
            }
            for task in tasks { await task.value }
            isOver.fill()
        }
        #expect(ends.entries.count == count)
        #expect(ends.entries.count { $0 } >= count - (count + 2) / 3)
        #expect(clock.sleeperCount == 0)
    }

    @Test func `nothing is kept of those that have slept, were cancelled, or were waited for`() async throws {
        let lifetimes = Lifetimes()
        weak var gone: ManualClock?
        do {
            let clock = ManualClock()
            gone = clock
            let tasks = (0..<100).map { _ in
                Task { [token = lifetimes.make()] in
                    try await clock.sleep(for: .seconds(1))
                    token.touch()
                }
            }
            clock.sleepers(100).upon(.immediate) { [token = lifetimes.make()] in token.touch() }
            try await clock.waitForSleepers(100)
            for task in tasks.prefix(50) { task.cancel() }
            clock.advance(by: .seconds(1))
            for task in tasks { _ = await task.result }
            try await eventually { lifetimes.count == 0 }
        }
        try await eventually { gone == nil }
    }
}
