import Deferred
import DeferredCompatibility
import Foundation
import TestSupport
import Testing

/// Compiles the public names of version 4 of the archived library, each in every way that its users wrote it.
///
/// The article on migrating from that version says how many of them compile, and has a line for each that doesn't.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ArchivedSpellingsCountTests {
    enum Failure: Error { case expected }

    /// The names that don't compile any more, as the article spells them.
    private let gone = [
        "Task(success:)", "Task(catching:)", "TaskProtocol", "Either", "Protected", "Locking", "NativeLock",
        "POSIXReadWriteLock",
        "submit(workItem)", "RunLoop", "CFRunLoop", "upon(_: Executor, execute:)", "Task<Value>.Failure",
    ]

    @available(*, deprecated)
    @Test func `the article says how many spellings compile, and has a line for each other`() async throws {
        let kept = try futures() + tasks() + results() + collections()
        #expect(Set(kept + gone).count == kept.count + gone.count)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let file = root.appending(path: "Documentation/Deferred.docc/Articles/MigratingFromDeferred.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        #expect(article.contains("\(kept.count) of the \(kept.count + gone.count) spellings"))
        for name in gone { #expect(article.contains("`\(name)`")) }
    }

    /// Collects names, each with code that uses it.
    private struct Names {
        var all: [String] = []

        mutating func add(_ name: String, _ use: () throws -> Bool) rethrows {
            #expect(try use(), "\(name)")
            all.append(name)
        }
    }

    @available(*, deprecated)
    private func futures() throws -> [String] {
        final class Inline: Executor {
            func submit(_ body: @escaping () -> Void) { body() }
        }
        let here = Inline()
        let queue = DispatchQueue(label: "queue")
        let one = Future(value: 1)
        let done: DispatchTime = .distantFuture
        var names = Names()
        names.add("Deferred()") { Deferred<Int>().peek() == nil }
        names.add("Deferred(filledWith:)") { Deferred(filledWith: 1).peek() == 1 }
        names.add("fill(with:)") { Deferred<Int>().fill(with: 1) }
        names.add("mustFill(with:)") {
            Deferred<Int>().mustFill(with: 1)
            return true
        }
        names.add("upon(_:execute:)") {
            let seen = Deferred<Int>()
            one.upon(here) { seen.fill(with: $0) }
            return seen.peek() == 1
        }
        names.add("upon(_:execute:), with a queue") {
            let seen = Deferred<Int>()
            one.upon(queue) { seen.fill(with: $0) }
            one.upon(.main) { _ = $0 }
            return seen.wait(until: done) == 1
        }
        names.add("upon(execute:)") {
            let seen = Deferred<Int>()
            one.upon { seen.fill(with: $0) }
            return seen.wait(until: done) == 1
        }
        names.add("peek()") { one.peek() == 1 }
        names.add("isFilled") { one.isFilled }
        names.add("wait(until:)") { one.wait(until: .now()) == 1 }
        names.add("map(upon:transform:)") { one.map(upon: here, transform: { $0 + 1 }).peek() == 2 }
        names.add("map(upon:), trailing") { one.map(upon: .any()) { $0 + 1 }.wait(until: done) == 2 }
        names.add("andThen(upon:start:)") { one.andThen(upon: here, start: { Future(value: $0 + 1) }).peek() == 2 }
        names.add("andThen(upon:), trailing") {
            one.andThen(upon: .any()) { Future(value: $0 + 1) }.wait(until: done) == 2
        }
        names.add("every(per:)") { one.every(per: { $0 + 1 }).peek() == 2 }
        names.add("every, trailing") { one.every { $0 + 1 }.peek() == 2 }
        names.add("and(_:)") { one.and(Future(value: "a")).peek().map { $0 == (1, "a") } == true }
        names.add("and(_:_:)") { one.and(Future(value: "a"), one).peek().map { $0 == (1, "a", 1) } == true }
        names.add("ignored()") { one.ignored().isFilled }
        names.add("Future(value:)") { Future(value: 1).peek() == 1 }
        names.add("Future(_:)") { Future(Deferred(filledWith: 1)).peek() == 1 }
        names.add("Future.never") { Future<Int>.never.peek() == nil }
        names.add("eraseToFuture()") { Deferred(filledWith: 1).eraseToFuture().peek() == 1 }
        names.add("Future.async(execute:)") { Future.async { 1 }.wait(until: done) == 1 }
        names.add("Future.async(upon:execute:)") { Future.async(upon: queue) { 1 }.wait(until: done) == 1 }
        names.add("Future.async(upon:flags:execute:)") {
            Future.async(upon: queue, flags: .barrier) { 1 }.wait(until: done) == 1
        }
        names.add("Future.async(flags:execute:)") { Future.async(flags: .enforceQoS) { 1 }.wait(until: done) == 1 }
        names.add("DispatchQueue.any()") { !DispatchQueue.any().label.isEmpty }
        names.add("PreferredExecutor") {
            let executor: PreferredExecutor = .any()
            return one.map(upon: executor) { $0 }.wait(until: done) == 1
        }
        names.add("defaultUponExecutor") { Future<Int>.defaultUponExecutor.label == DispatchQueue.any().label }
        names.add("Executor, of a class of one's own") { one.map(upon: here) { $0 }.isFilled }
        names.add("OperationQueue as an executor") {
            one.map(upon: OperationQueue()) { $0 }.wait(until: done) == 1
        }
        names.add("debugDescription") { "\(Deferred(filledWith: 1).debugDescription)".contains("1") }
        names.add("customMirror") { !one.customMirror.children.isEmpty }
        return names.all
    }

    @available(*, deprecated)
    private func tasks() throws -> [String] {
        let done: DispatchTime = .distantFuture
        let here = ImmediateExecutor()
        let one = Task<Int>.success(1)
        let bad = Task<Int>(failure: Failure.expected)
        let deferred = Deferred<Task<Int>.Result>()
        let asked = Deferred<Void>()
        func ask() { asked.fill(with: ()) }
        var names = Names()
        try names.add("Task<Value>.Result") { try Task<Int>.Result.success(1).get() == 1 }
        names.add("Task(_:)") { !Task(deferred).isFilled }
        names.add("Task(_:uponCancel:)") { !Task(deferred, uponCancel: { asked.fill(with: ()) }).isFilled }
        names.add("Task(_:), trailing") {
            Task(deferred) { asked.fill(with: ()) }.cancel()
            return asked.isFilled
        }
        names.add("Task(.never) { }") {
            let stopped = Deferred<Void>()
            let task = Future(value: 1).andThen(upon: here) { _ -> Task<String> in
                Task(.never) { stopped.fill(with: ()) }
            }
            return !task.isFilled
        }
        names.add("Task(_:progress:)") { !Task(deferred, progress: Progress(totalUnitCount: 1)).isFilled }
        try names.add("Task(succeedsFrom:)") { try Task(succeedsFrom: Future(value: 1)).peek()?.get() == 1 }
        names.add("Task(succeedsFrom:uponCancel:)") {
            Task(succeedsFrom: Future(value: 1), uponCancel: { asked.fill(with: ()) }).isFilled
        }
        names.add("Task(succeedsFrom:progress:)") {
            Task(succeedsFrom: Future(value: 1), progress: Progress(totalUnitCount: 1)).isFilled
        }
        names.add("Task(failure:)") { Task<Int>(failure: Failure.expected).isFilled }
        names.add("Task(_:), of a task") { Task(one).isFilled }
        names.add("Task.never") { !Task<Int>.never.isFilled }
        names.add("Task.Promise") {
            let promise = Task<Int>.Promise()
            promise.succeed(with: 1)
            return Task(promise).isFilled
        }
        names.add("cancel()") {
            let task = Task<Int>.never
            task.cancel()
            return task.isCancelled
        }
        names.add("isCancelled") { !one.isCancelled }
        names.add("progress") { one.progress.fractionCompleted == 1 }
        names.add("eraseToTask()") { one.eraseToTask().isFilled }
        names.add("eraseToTask(uponCancel:)") { one.eraseToTask(uponCancel: {}).isFilled }
        names.add("Task.async(onCancel:execute:)") {
            Task.async(onCancel: Failure.expected) { 1 }.wait(until: done) != nil
        }
        names.add("Task.async(upon:onCancel:execute:)") {
            Task.async(upon: .any(), onCancel: Failure.expected) { 1 }.wait(until: done) != nil
        }
        names.add("Task.async(upon:flags:onCancel:execute:)") {
            Task.async(upon: .any(), flags: .enforceQoS, onCancel: Failure.expected) { 1 }.wait(until: done) != nil
        }
        names.add("uponSuccess(on:execute:)") {
            let seen = Deferred<Int>()
            one.uponSuccess(on: here) { seen.fill(with: $0) }
            return seen.isFilled
        }
        names.add("uponSuccess(execute:)") {
            let seen = Deferred<Int>()
            one.uponSuccess { seen.fill(with: $0) }
            return seen.wait(until: done) == 1
        }
        names.add("uponFailure(on:execute:)") {
            let seen = Deferred<any Error>()
            bad.uponFailure(on: here) { seen.fill(with: $0) }
            return seen.isFilled
        }
        names.add("uponFailure(execute:)") {
            let seen = Deferred<any Error>()
            bad.uponFailure { seen.fill(with: $0) }
            return seen.wait(until: done) != nil
        }
        names.add("Task.map(upon:transform:)") { one.map(upon: here, transform: { $0 + 1 }).isFilled }
        names.add("Task.map(upon:), throwing") {
            one.map(upon: here) { _ -> String in throw Failure.expected }.isFilled
        }
        names.add("Task.andThen(upon:start:)") { one.andThen(upon: here, start: { Task.success($0) }).isFilled }
        names.add("Task.andThen(upon:), throwing") {
            one.andThen(upon: here) { _ -> Task<String> in throw Failure.expected }.isFilled
        }
        names.add("everySuccess(per:)") { one.everySuccess(per: { $0 + 1 }).isFilled }
        names.add("everySuccess, trailing") { one.everySuccess { $0 + 1 }.isFilled }
        names.add("andSuccess(of:)") { one.andSuccess(of: Task.success("a")).isFilled }
        names.add("andSuccess(of:_:)") { one.andSuccess(of: Task.success("a"), one).isFilled }
        names.add("recover(upon:substituting:)") { bad.recover(upon: here, substituting: { _ in 2 }).isFilled }
        names.add("recover(upon:), trailing") { bad.recover(upon: here) { _ -> Int in 2 }.isFilled }
        names.add("fallback(upon:to:)") { bad.fallback(upon: here, to: { _ in Task.success(2) }).isFilled }
        names.add("fallback(upon:), trailing") { bad.fallback(upon: here) { _ -> Task<Int> in one }.isFilled }
        names.add("Task.repeat(upon:to:)") { Task.repeat(upon: here) { one }.isFilled }
        names.add("Task.repeat(upon:count:continuingIf:to:)") {
            Task.repeat(upon: here, count: 2, continuingIf: { _ in true }) { one }.isFilled
        }
        names.add("Task.ignored()") { one.ignored().isFilled }
        names.add("Task.defaultUponExecutor") { Task<Int>.defaultUponExecutor.label == DispatchQueue.any().label }
        return names.all
    }

    /// A `Deferred` or a `Future` of a result had the operators of a task.
    @available(*, deprecated)
    private func results() throws -> [String] {
        let done: DispatchTime = .distantFuture
        let here = ImmediateExecutor()
        let one = Deferred<Task<Int>.Result>()
        let bad = Deferred<Task<Int>.Result>()
        var names = Names()
        names.add("succeed(with:)") { one.succeed(with: 1) }
        names.add("fail(with:)") { bad.fail(with: Failure.expected) }
        names.add("succeed()") { Deferred<Task<Void>.Result>().succeed() }
        names.add("Deferred.eraseToTask()") { one.eraseToTask().isFilled }
        names.add("Deferred.eraseToTask(uponCancel:)") { one.eraseToTask(uponCancel: {}).isFilled }
        names.add("Deferred.eraseToTask(progress:)") { one.eraseToTask(progress: Progress(totalUnitCount: 1)).isFilled }
        names.add("Deferred.uponSuccess(on:execute:)") {
            let seen = Deferred<Int>()
            one.uponSuccess(on: here) { seen.fill(with: $0) }
            return seen.isFilled
        }
        names.add("Deferred.uponFailure(execute:)") {
            let seen = Deferred<any Error>()
            bad.uponFailure { seen.fill(with: $0) }
            return seen.wait(until: done) != nil
        }
        names.add("Deferred.map(upon:transform:), of the success") {
            one.map(upon: here) { (value: Int) -> String in "\(value)" }.isFilled
        }
        names.add("Deferred.andThen(upon:start:), of the success") {
            one.andThen(upon: here) { (value: Int) -> Task<String> in Task.success("\(value)") }.isFilled
        }
        names.add("Deferred.everySuccess(per:)") { one.everySuccess { $0 + 1 }.isFilled }
        names.add("Deferred.recover(upon:substituting:)") { bad.recover(upon: here) { _ in 2 }.isFilled }
        names.add("Deferred.fallback(upon:to:)") { bad.fallback(upon: here) { _ in Task.success(2) }.isFilled }
        let promise = Task<Int>.Promise()
        promise.succeed(with: 1)
        names.add("Deferred.andSuccess(of:), of a promise") { one.andSuccess(of: promise).isFilled }
        names.add("Promise.andSuccess(of:), of a Deferred") { promise.andSuccess(of: one).isFilled }
        names.add("Task.andSuccess(of:), of a promise and a Deferred") {
            Task.success("a").andSuccess(of: promise, one).isFilled
        }
        names.add("Task.andSuccess(of:), of promises and a task") {
            Task.success("a").andSuccess(of: promise, one, Task.success(1)).isFilled
        }
        try names.add("[Task.Promise].allSucceeded()") { try [promise].allSucceeded().peek()?.get() == [1] }
        try names.add("[Future<Task<Value>.Result>].allSucceeded()") {
            try [one.future, promise.future].allSucceeded().peek()?.get() == [1, 1]
        }
        try names.add("Result(value:error:)") { try Result(value: 1, error: Failure.expected).get() == 1 }
        names.add("Future(success:)") { Future<Task<Int>.Result>(success: 1).isFilled }
        names.add("Future(failure:)") { Future<Task<Int>.Result>(failure: Failure.expected).isFilled }
        names.add("Future(catching:)") { Future<Task<Int>.Result>(catching: { 1 }).isFilled }
        names.add("Future(succeedsFrom:)") { Future<Task<Int>.Result>(succeedsFrom: Future(value: 1)).isFilled }
        names.add("Future(resultFrom:)") { Future<Task<Int>.Result>(resultFrom: Task.success(1)).isFilled }
        return names.all
    }

    @available(*, deprecated)
    private func collections() throws -> [String] {
        let futures = [Future(value: 1), Future(value: 1)]
        let tasks = [Task.success(1), Task.success(2)]
        var names = Names()
        names.add("allFilled()") { futures.allFilled().peek() == [1, 1] }
        names.add("firstFilled()") { futures.firstFilled().peek() == 1 }
        try names.add("allSucceeded()") { try tasks.allSucceeded().peek()?.get() == [1, 2] }
        names.add("allSucceeded(), of tasks without a value") {
            [Task<Void>.success(())].allSucceeded().ignored().isFilled
        }
        return names.all
    }
}
