import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// What the articles on migrating say that stands in for names of other libraries, where it is more than another name.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigrationTests {
    private struct Failure: Error {}

    // From PromiseKit

    @Test func `firstly with a closure that throws is catching, and flatMap`() {
        let good = Task.catching { Task.success(1) }.flatMap { $0 }
        let bad = Task.catching { () throws -> Task<Int> in throw Failure() }.flatMap { $0 }
        #expect((try? good.peek()?.get()) == 1)
        #expect(throws: Failure.self) { try bad.peek()?.get() }
    }

    @Test func `tap is always: it passes the result on after its closure`() {
        let log = Log<String>()
        let task = Task.success(1).always { _ in log.add("tap") }.map { log.add("map \($0)") }
        #expect(task.isFilled && log.entries == ["tap", "map 1"])
    }

    @Test func `when with a limit takes an element only when there is room, also of an endless sequence`() {
        let started = Log<Int>()
        let all = (0...).mapTasks(maxConcurrent: 2) { number in
            started.add(number)
            return Task<Int>.never
        }
        #expect(started.entries == [0, 1])
        all.cancel()
    }

    @Test func `a limit of zero counts as one`() async throws {
        #expect(try await [1, 2].mapTasks(maxConcurrent: 0) { .success($0) }.value == [1, 2])
    }

    @Test func `when resolved with a limit gives the results, in order`() async throws {
        let results = try await [1, 2, 3].mapTasks(maxConcurrent: 2) { number -> Task<Result<Int, any Error>> in
            let task: Task<Int> = number == 2 ? .failure(Failure()) : .success(number)
            return task.map { .success($0) }.recover { .failure($0) }
        }.value
        #expect(results.map { try? $0.get() } == [1, nil, 3])
    }

    @Test func `isFulfilled is whether peek has a success`() {
        func isFulfilled(_ task: Task<Int>) -> Bool { (try? task.peek()?.get()) != nil }
        #expect(isFulfilled(.success(1)))
        #expect(!isFulfilled(.failure(Failure())) && !isFulfilled(.never))
    }

    // From SwiftNIO

    @Test func `a scheduled task runs after its delay, and may return a task`() async throws {
        let clock = ManualClock()
        let plain = Task.success(()).delay(for: .seconds(1), clock: clock).map { 1 }
        let flat = Task.success(()).delay(for: .seconds(1), clock: clock).flatMap { Task.success(2) }
        try await clock.waitForSleepers(2)
        #expect(!plain.isFilled && !flat.isFilled)
        clock.advance(by: .seconds(1))
        #expect(try await zip(plain, flat).value == (1, 2))
    }

    @Test func `a repeated task is a loop with a pause, which cancelling ends`() async throws {
        let (clock, log) = (ManualClock(), Log<Int>())
        let repeated = Task {
            for number in 0... {
                try await clock.sleep(for: .seconds(1))
                log.add(number)
            }
        }
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        try await clock.waitForSleepers()
        repeated.cancel()
        await #expect(throws: CancellationError.self) { try await repeated.value }
        #expect(log.entries == [0, 1, 2])
    }

    // From Combine

    @Test func `the latest of publishers of one value is zip`() async throws {
        let (name, age) = try await zip(Task.success("Ada"), Task.success(36)).value
        #expect(name == "Ada" && age == 36)
    }
}
