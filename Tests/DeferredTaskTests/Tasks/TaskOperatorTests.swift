import DeferredCore
import DeferredTask
import Dispatch
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskOperatorTests {
    private enum Failure: Error { case first, second }

    /// Tests each operator with a success and a failure, before and after the end of its upstream.
    @Test func `values and errors take their ways through each operator`() async {
        for isEarly in [true, false] {
            for queue in [nil, DispatchQueue(label: "operators")] {
                func run(
                    _ input: Task<Int>.Result,
                    _ derive: (Task<Int>) -> Task<Int>
                ) async -> String {
                    let producer = Deferred<Task<Int>.Result>()
                    if !isEarly { producer.fill(with: input) }
                    let task = derive(Task(producer))
                    if isEarly { producer.fill(with: input) }
                    return switch await task.result {
                    case .success(let value): "\(value)"
                    case .failure(let error): "\(error)"
                    }
                }
                let map: (Task<Int>) -> Task<Int> = { task in
                    guard let queue else { return task.map { try $0 == 3 ? { throw Failure.second }() : $0 + 1 } }
                    return task.map(on: queue) { try $0 == 3 ? { throw Failure.second }() : $0 + 1 }
                }
                #expect(await run(.success(1), map) == "2")
                #expect(await run(.success(3), map) == "second")
                #expect(await run(.failure(Failure.first), map) == "first")

                let flatMap: (Task<Int>) -> Task<Int> = { task in
                    let body: @Sendable (Int) throws -> Task<Int> = {
                        switch $0 {
                        case 1: .success(10)
                        case 2: .failure(Failure.second)
                        default: throw Failure.second
                        }
                    }
                    guard let queue else { return task.flatMap(body) }
                    return task.flatMap(on: queue, body)
                }
                #expect(await run(.success(1), flatMap) == "10")
                #expect(await run(.success(2), flatMap) == "second")
                #expect(await run(.success(3), flatMap) == "second")
                #expect(await run(.failure(Failure.first), flatMap) == "first")

                let recover: (Task<Int>) -> Task<Int> = { task in
                    let body: @Sendable (any Error) throws -> Int = {
                        if $0 as? Failure == .first { return 20 }
                        throw Failure.first
                    }
                    guard let queue else { return task.recover(body) }
                    return task.recover(on: queue, body)
                }
                #expect(await run(.success(1), recover) == "1")
                #expect(await run(.failure(Failure.first), recover) == "20")
                #expect(await run(.failure(Failure.second), recover) == "first")

                let fallback: (Task<Int>) -> Task<Int> = { task in
                    let body: @Sendable (any Error) throws -> Task<Int> = {
                        if $0 as? Failure == .first { return .success(30) }
                        throw Failure.first
                    }
                    guard let queue else { return task.fallback(to: body) }
                    return task.fallback(on: queue, to: body)
                }
                #expect(await run(.success(1), fallback) == "1")
                #expect(await run(.failure(Failure.first), fallback) == "30")
                #expect(await run(.failure(Failure.second), fallback) == "first")
            }
        }
    }

    @Test func `uponSuccess and uponFailure are called for the one or the other`() {
        let log = Log<String>()
        let producer = Deferred<Task<Int>.Result>()
        let task = Task(producer)
        task.uponSuccess(on: .immediate) { log.add("value \($0)") }
        task.uponFailure(on: .immediate) { log.add("error \($0)") }
        let cancelled = task.uponSuccess(on: .immediate) { _ in log.add("never") }
        cancelled.cancel()
        producer.succeed(with: 1)
        let failed = Task<Int>.failure(Failure.first)
        failed.uponSuccess(on: .immediate) { log.add("value \($0)") }
        failed.uponFailure(on: .immediate) { log.add("error \($0)") }
        #expect(log.entries == ["value 1", "error first"])
    }

    @Test @MainActor func `handlers and closures may run on the main actor`() async throws {
        var count = 0
        let producer = Deferred<Task<Int>.Result>()
        let task = Task(producer)
        let done = Deferred<Void>()
        task.uponSuccess(on: .mainActor) { count += $0 }
        task.uponFailure(on: .mainActor) { _ in count = -1 }
        let derived = task.map(on: .mainActor) { $0 + count }.flatMap(on: .mainActor) { .success($0 + count) }
        producer.succeed(with: 1)
        done.fill()
        #expect(try await derived.value == 3)
    }

    @Test func `tasks are made from results, futures and closures`() async throws {
        #expect(try await Task.success(1).value == 1)
        await #expect(throws: Failure.first) { try await Task<Int>.failure(Failure.first).value }
        #expect(try await Task.catching { 2 }.value == 2)
        await #expect(throws: Failure.second) { try await Task<Int>.catching { throw Failure.second }.value }
        #expect(try await Task(succeedsFrom: Future(value: 3)).value == 3)
        #expect(try await Task.async(on: .any()) { 4 }.value == 4)
        #expect(Task<Int>.never.peek() == nil)
        let void = Deferred<Task<Void>.Result>()
        #expect(void.succeed())
        try await Task(void).value
    }

    @Test func `a task is a future of its result`() async {
        let task = Task.success(1)
        #expect(task.isFilled)
        #expect(task.future.map { (try? $0.get()) ?? 0 }.peek() == 1)
        let both = Log<Int>()
        task.upon(.immediate) { both.add((try? $0.get()) ?? 0) }
        #expect(both.entries == [1])
    }

    @Test func `get cancels the task when the awaiting task is cancelled, value does not`() async {
        let producer = Deferred<Task<Int>.Result>()
        let task = Task(producer) { producer.fail(with: Failure.first) }
        let started = Deferred<Void>()
        let waiting = _Concurrency.Task {
            started.fill()
            return try await task.get()
        }
        await started.value
        waiting.cancel()
        await #expect(throws: Failure.first) { try await waiting.value }
        #expect(task.isCancelled)

        let other = Deferred<Task<Int>.Result>()
        let unaffected = Task(other) { other.fail(with: Failure.first) }
        let patient = _Concurrency.Task { try await unaffected.value }
        patient.cancel()
        other.succeed(with: 5)
        #expect(await (try? patient.value) == 5)
        #expect(!unaffected.isCancelled)
    }

    @Test func `a flatMap loop of 100,000 turns over ended tasks does not overflow`() async throws {
        @Sendable func count(_ turns: Int) -> Task<Int> {
            Task.success(turns).flatMap { $0 == 0 ? .success(-1) : count($0 - 1) }
        }
        #expect(try await count(100_000).value == -1)
    }
}
