import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct TaskZipTests {
    private enum Failure: Error { case custom, other }
    private typealias Producer<Value: Sendable> = Deferred<Task<Value>.Result>

    /// Three tasks of different types, which record their cancellation.
    private struct Children {
        let number = Producer<Int>()
        let text = Producer<String>()
        let list = Producer<[Int?]>()
        let cancelled = Log<String>()

        func tasks() -> (Task<Int>, Task<String>, Task<[Int?]>) {
            func task<Value>(_ producer: Producer<Value>, _ name: String) -> Task<Value> {
                Task(producer) { [cancelled] in
                    cancelled.add(name)
                    producer.fail(with: CancellationError())
                }
            }
            return (task(number, "number"), task(text, "text"), task(list, "list"))
        }

        func zipped() -> Task<(Int, String, [Int?])> {
            let (one, two, three) = tasks()
            return zip(one, two, three)
        }
    }

    @Test func `tasks of different types give a tuple, whatever comes first`() throws {
        let children = Children()
        let task = children.zipped()
        children.list.succeed(with: [1, nil])
        children.number.succeed(with: 2)
        #expect(task.peek() == nil)
        children.text.succeed(with: "three")
        #expect(try #require(task.valueNow) == (2, "three", [1, nil]))
        #expect(children.cancelled.entries.isEmpty)
    }

    @Test func `tasks that have ended count at once`() async throws {
        #expect(try #require(zip(Task.success(1), Task.success("b")).valueNow) == (1, "b"))
        let one: Int? = zip(Task.success(1)).valueNow
        #expect(one == 1)
        let none: Task<Void> = zip()
        try await none.value
        #expect(try await zip(Task { 1 }, Task { "b" }, .success(2.5)).value == (1, "b", 2.5))
    }

    @Test func `an optional that is nil is a value`() throws {
        let (maybe, nothing) = (Task<Int?>.success(nil), Task<Int??>.success(.some(nil)))
        let (one, other) = try #require(zip(maybe, nothing).valueNow)
        #expect(one == nil && other == .some(nil))
    }

    @Test func `the first failure ends it and cancels the rest, before its handlers run`() {
        let (children, log) = (Children(), Log<Int>())
        let task = children.zipped()
        task.upon(.immediate) { _ in log.add(children.cancelled.entries.count) }
        children.text.fail(with: Failure.custom)
        #expect(task.failureNow as? Failure == .custom)
        #expect(children.cancelled.entries == ["number", "list"])
        #expect(log.entries == [2])
    }

    @Test func `one that has failed before cancels those that come after it, too`() {
        let children = Children()
        let (one, two, _) = children.tasks()
        let task = zip(one, Task<Double>.failure(Failure.other), two)
        #expect(task.failureNow as? Failure == .other)
        #expect(children.cancelled.entries == ["number", "text"])
    }

    @Test func `cancelling it cancels all of them, and they decide how it ends`() {
        let children = Children()
        let task = children.zipped()
        task.cancel()
        #expect(children.cancelled.entries == ["number", "text", "list"])
        #expect(task.isCancelled && task.failureNow is CancellationError)

        let stubborn = Producer<Int>()
        let pair = zip(Task(stubborn), Task.success(1))
        pair.cancel()
        #expect(pair.peek() == nil)
        stubborn.succeed(with: 2)
        #expect(pair.valueNow.map { $0 == (2, 1) } == true)
    }

    @Test func `cancelling one that it is made of fails it`() {
        let children = Children()
        let (one, two, three) = children.tasks()
        let task = zip(one.map { $0 }, two, three)
        one.cancel()
        #expect(task.failureNow is CancellationError)
        #expect(children.cancelled.entries == ["number", "text", "list"])
    }

    @Test func `its progress is the weighted mean of theirs`() {
        let (number, text) = (Producer<Int>(), Producer<String>())
        let (first, second) = (ProgressReporter(), ProgressReporter())
        let task = zip(Task(number, reporter: first), Task(text, reporter: second), Task<Bool>.never)
        let progress = task.progress
        first.report(completed: 1, of: 2)
        second.report(completed: 1, of: 4)
        // Two tasks that report progress have a weight of 10 each, and the third a weight of 1.
        #expect(abs(progress.fractionCompleted - 7.5 / 21) < 1e-6)
        text.succeed(with: "")
        #expect(abs(progress.fractionCompleted - 15.0 / 21) < 1e-6)
        task.cancel()
    }

    @Test func `it keeps nothing after the end, and ends though nobody keeps it`() {
        let (lifetimes, log) = (Lifetimes(), Log<String>())
        for ends in ["success", "failure", "cancelling"] {
            let (number, text) = (Producer<Lifetimes.Token>(), Producer<String>())
            do {
                let task = zip(
                    Task(number) { [token = lifetimes.make()] in token.touch() },
                    Task(text) { [token = lifetimes.make()] in
                        token.touch()
                        text.fail(with: CancellationError())
                    }
                )
                task.upon(.immediate) { [token = lifetimes.make()] _ in
                    token.touch()
                    log.add(ends)
                }
                if ends == "cancelling" { task.cancel() }
            }
            if ends == "success" {
                number.succeed(with: lifetimes.make())
                text.succeed(with: "")
                // The future retains only the value.
                #expect(lifetimes.count == 1)
            } else if ends == "failure" {
                text.fail(with: Failure.custom)
            }
        }
        #expect(log.entries == ["success", "failure", "cancelling"])
        #expect(lifetimes.count == 0)
    }

    @Test func `a value that came before a failure is released with it`() {
        let (lifetimes, text) = (Lifetimes(), Producer<String>())
        let task = zip(Task.success(lifetimes.make()), Task(text))
        #expect(lifetimes.count == 1)
        text.fail(with: Failure.custom)
        #expect(lifetimes.count == 0)
        #expect(task.failureNow as? Failure == .custom)
    }

    @Test func `ends race: one wins, it ends once`() {
        for _ in 0..<1_000 {
            let (children, ends) = (Children(), Log<Int>())
            let task = children.zipped()
            task.upon(.immediate) { _ in ends.add(1) }
            race(4) { index in
                switch index {
                case 0: children.number.succeed(with: 1)
                case 1: children.text.succeed(with: "")
                case 2: children.list.fail(with: Failure.custom)
                default: task.cancel()
                }
            }
            #expect(ends.entries == [1])
        }
    }

    @Test func `all values are there, whichever threads bring them`() {
        for _ in 0..<1_000 {
            let children = Children()
            let task = children.zipped()
            race(3) { index in
                switch index {
                case 0: children.number.succeed(with: 1)
                case 1: children.text.succeed(with: "two")
                default: children.list.succeed(with: [3])
                }
            }
            #expect(task.valueNow.map { $0 == (1, "two", [3]) } == true)
        }
    }

    @Test func `futures and tasks together are a future, as before`() throws {
        let (result, value) = try #require(zip(Task.success(1), Future(value: "b")).peek())
        #expect(try result.get() == 1 && value == "b")
    }

    @Test func `10,000 nested ones are cancelled on a small stack`() async {
        let isCancelled = await onThread(stackSize: 512 << 10) {
            let producer = Deferred<Task<Int>.Result>()
            var task = Task(producer, uponCancel: { producer.fail(with: CancellationError()) })
            for _ in 0..<10_000 { task = zip(task, .success(1)).map { $0 + $1 } }
            task.cancel()
            return task.failureNow is CancellationError
        }
        #expect(isCancelled)
    }

    #if os(macOS) || os(Linux)
    @Test func `rounds against a task that never ends keep memory flat`() async {
        await #expect(processExitsWith: .success) {
            let endless = Task<Int>.never
            func rounds(_ count: Int) {
                for _ in 0..<count {
                    // Shared, so that losing does not cancel it.
                    let task = zip(endless.shared(), Task<String>.failure(CancellationError()))
                    precondition(task.peek() != nil)
                }
            }
            rounds(2_000)
            let before = residentMemory()
            rounds(50_000)
            let growth = residentMemory() - before
            // A sanitizer keeps a history, which can be of any size.
            precondition(growth < 4 << 20 || isSanitized, "\(growth) bytes more than before")
        }
    }
    #endif
}
