import DeferredCore
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct LatestTaskStartAfterTests {
    private enum Failure: Error { case custom }
    private typealias Producer = Deferred<Task<Int>.Result>

    @Test func `only the last of many calls in a row starts its task`() async throws {
        let (latest, clock, log) = (LatestTask<Int>(), ManualClock(), Log<String>())
        let delivered = Deferred<Void>()
        for call in 1...5 {
            latest.start(after: .seconds(1), clock: clock, on: .immediate) {
                log.add("begin \(call)")
                return .success(call)
            } deliver: { result in
                log.add("deliver \((try? result.get()) ?? 0)")
                delivered.fill()
            }
            try await eventually { clock.sleeperCount == 1 }
            clock.advance(by: .milliseconds(999))
            #expect(log.entries.isEmpty)
        }
        clock.advance(by: .milliseconds(1))
        await delivered.value
        #expect(log.entries == ["begin 5", "deliver 5"])
        #expect(clock.sleeperCount == 0)
    }

    @Test func `a call during a task cancels that at once, and never delivers it`() async throws {
        let (latest, clock, log) = (LatestTask<Int>(), ManualClock(), Log<String>())
        let (first, begun) = (Producer(), Deferred<Void>())
        latest.start(after: .seconds(1), clock: clock, on: .immediate) {
            begun.fill()
            return Task(first) { log.add("cancel") }
        } deliver: { _ in
            log.add("deliver 1")
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await begun.value
        latest.start(after: .seconds(1), clock: clock, on: .immediate) {
            .success(2)
        } deliver: { _ in
            log.add("deliver 2")
        }
        // The closure may not have returned from `begun` yet.
        try await eventually { log.entries == ["cancel"] }
        first.succeed(with: 1)
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await eventually { log.entries.count == 2 }
        #expect(log.entries == ["cancel", "deliver 2"])
    }

    @Test func `cancelling it, or starting a task at once, ends the pause and frees its closures`() async throws {
        for isCancelled in [true, false] {
            let (latest, clock, log, lifetimes) = (LatestTask<Int>(), ManualClock(), Log<String>(), Lifetimes())
            latest.start(after: .seconds(1), clock: clock, on: .immediate) { [token = lifetimes.make()] in
                token.touch()
                return .success(1)
            } deliver: { [token = lifetimes.make()] _ in
                token.touch()
                log.add("pause")
            }
            try await clock.waitForSleepers()
            #expect(lifetimes.count == 2)
            if isCancelled {
                latest.cancel()
            } else {
                latest.start(.success(2), on: .immediate) { _ in log.add("at once") }
            }
            #expect(lifetimes.count == 0)
            try await eventually { clock.sleeperCount == 0 }
            clock.advance(by: .seconds(5))
            #expect(log.entries == (isCancelled ? [] : ["at once"]))
        }
    }

    @Test func `an error that begin throws is delivered`() async throws {
        let (latest, clock, delivered) = (LatestTask<Int>(), ManualClock(), Deferred<Task<Int>.Result>())
        latest.start(after: .seconds(1), clock: clock, on: .any()) {
            throw Failure.custom
        } deliver: { result in
            delivered.fill(with: result)
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        await #expect(throws: Failure.custom) { try await Task(delivered).value }
    }

    @Test func `one that is superseded while its begin waits for the executor is not begun`() async throws {
        let (latest, clock, log, executor) = (LatestTask<Int>(), ManualClock(), Log<String>(), ManualExecutor())
        latest.start(after: .seconds(1), clock: clock, on: executor) {
            log.add("begin")
            return .success(1)
        } deliver: { _ in
            log.add("deliver")
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        try await eventually { executor.count == 1 }
        latest.cancel()
        executor.runAll()
        #expect(log.entries.isEmpty)
    }

    @Test func `it works without its object being held`() async throws {
        let (clock, delivered) = (ManualClock(), Deferred<Int>())
        LatestTask<Int>().start(after: .seconds(1), clock: clock, on: .immediate) {
            .success(1)
        } deliver: { result in
            delivered.fill(with: (try? result.get()) ?? 0)
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await delivered.value == 1)
    }

    @Test func `any clock will do, as an existential, and the real one by default`() async throws {
        let manual = ManualClock()
        let clock: any Clock<Duration> = manual
        let (latest, delivered) = (LatestTask<Int>(), Deferred<Int>())
        latest.start(after: .seconds(1), clock: clock, on: .immediate) {
            .success(1)
        } deliver: { result in
            delivered.fill(with: (try? result.get()) ?? 0)
        }
        try await manual.waitForSleepers()
        manual.advance(by: .seconds(1))
        #expect(await delivered.value == 1)

        let late = Deferred<Int>()
        latest.start(after: .zero, on: .any()) {
            .success(2)
        } deliver: { result in
            late.fill(with: (try? result.get()) ?? 0)
        }
        #expect(await late.value == 2)
    }

    @Test(arguments: [false, true])
    func `a begin that runs before the call returns can be superseded, too`(byStart: Bool) async throws {
        // With no pause, the closure runs on the timer's thread at any moment of the call.
        for _ in 0..<(isSanitized ? 100 : 500) {
            let (latest, log, cancelled) = (LatestTask<Int>(), Log<Int>(), Deferred<Void>())
            latest.start(after: .zero, on: .immediate) {
                if byStart { latest.start(.success(2), on: .immediate) { _ in log.add(2) } } else { latest.cancel() }
                return Task(.never) { cancelled.fill() }
            } deliver: { _ in
                log.add(1)
            }
            try await eventually { cancelled.isFilled }
            #expect(log.entries == (byStart ? [2] : []))
        }
    }

    #if os(macOS) || os(Linux)
    @Test func `20,000 calls leave one timer`() async {
        await #expect(processExitsWith: .success) {
            let latest = LatestTask<Int>()
            func calls(_ count: Int) {
                for _ in 0..<count {
                    latest.start(after: .seconds(3_600), on: .immediate) {
                        .success(1)
                    } deliver: { _ in
                    }
                }
            }
            calls(2_000)
            let before = residentMemory()
            calls(isSanitized ? 5_000 : 20_000)
            let growth = residentMemory() - before
            latest.cancel()
            precondition(isSanitized || growth < 4 << 20, "\(growth) bytes more than before")
        }
    }
    #endif
}
