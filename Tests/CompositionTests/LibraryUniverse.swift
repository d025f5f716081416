import DeferredCore
import DeferredTask
import DeferredTesting
import Dispatch
import Foundation

/// The library under test, as the universe of programs.
final class LibraryUniverse: Universe {
    typealias Task = DeferredTask.Task<Payload>

    enum Item: Sendable {
        case deferred(Deferred<Value>)
        case promise(Task.Promise)
        case future(Future<Value>)
        case task(Task)
        case registration(Registration)
        case source(CancellationTokenSource)
        case request(RequestToken)
        case latest(LatestTask<Payload>)
        case reporter(ProgressReporter)
        case progress(Progress)
    }

    let counts: Counts
    private let clock = ManualClock()
    private let jobs = Jobs()

    init(_ counts: Counts) {
        self.counts = counts
    }

    private func future(of item: Item) -> Future<Value>? {
        switch item {
        case .deferred(let deferred): deferred.future
        case .promise(let promise): promise.future
        case .future(let future): future
        case .task(let task): task.future
        default: nil
        }
    }

    /// Returns the identity of an item's future, which is unique while the future is retained.
    func identity(_ item: Item) -> ObjectIdentifier? { future(of: item).map { ObjectIdentifier($0.storage) } }

    private func task(of item: Item) -> Task? {
        if case .task(let task) = item { task } else { nil }
    }

    // MARK: - Creating and filling

    func deferred() -> Item { .deferred(Deferred()) }
    func promise() -> Item { .promise(Task.Promise()) }
    func filled(_ value: Value) -> Item { .future(Future(value: value)) }
    func never() -> Item { .task(.never) }

    func task(of value: Value) -> Item {
        switch value {
        case .success(let payload): .task(.success(payload))
        case .failure(let error): .task(.failure(error))
        }
    }

    func task(
        _ producer: Item,
        _ reporter: Item?,
        failsOnCancel: Bool,
        _ onCancel: (@Sendable () -> Void)?
    ) -> Item? {
        switch producer {
        case .deferred(let deferred):
            return .task(make(deferred, reporter, onCancel))
        case .promise(let promise):
            let handler: @Sendable (Task.Promise) -> Void = { promise in
                if failsOnCancel { promise.fail(with: CancellationError()) }
                onCancel?()
            }
            if case .reporter(let reporter) = reporter {
                return .task(Task(promise, reporter: reporter, uponCancel: handler))
            }
            return .task(failsOnCancel || onCancel != nil ? Task(promise, uponCancel: handler) : Task(promise))
        default: return future(of: producer).map { .task(make($0, reporter, onCancel)) }
        }
    }

    private func make(
        _ future: some FutureProtocol<Value>,
        _ reporter: Item?,
        _ onCancel: (@Sendable () -> Void)?
    ) -> Task {
        if case .reporter(let reporter) = reporter {
            return Task(future, reporter: reporter, uponCancel: onCancel)
        }
        return Task(future, uponCancel: onCancel)
    }

    func taskOfValue(_ item: Item) -> Item? {
        let counts = counts
        return future(of: item).map { future in
            .task(Task(succeedsFrom: future.map { Payload(code($0), counts) }))
        }
    }

    func async(_ executor: any Executor, _ body: @escaping @Sendable () -> Value) -> Item {
        .future(Future.async(on: executor, execute: body))
    }

    func fill(_ producer: Item, _ value: Value) -> Bool? {
        switch (producer, value) {
        case (.deferred(let deferred), .success(let payload)): deferred.succeed(with: payload)
        case (.deferred(let deferred), .failure(let error)): deferred.fail(with: error)
        case (.promise(let promise), .success(let payload)): promise.succeed(with: payload)
        case (.promise(let promise), .failure(let error)): promise.fail(with: error)
        default: nil
        }
    }

    // MARK: - Handlers

    func upon(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        func register(_ executor: some Executor) -> Registration? {
            switch item {
            case .deferred(let deferred): deferred.upon(executor, execute: body)
            case .promise(let promise): promise.upon(executor, execute: body)
            case .future(let future): future.upon(executor, execute: body)
            case .task(let task): task.upon(executor, execute: body)
            default: nil
            }
        }
        return register(executor).map { .registration($0) }
    }

    func uponSuccess(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        task(of: item).map { .registration($0.uponSuccess(on: executor) { body(.success($0)) }) }
    }

    func uponFailure(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        task(of: item).map { .registration($0.uponFailure(on: executor) { body(.failure($0)) }) }
    }

    func uponCancel(_ item: Item, _ body: @escaping @Sendable () -> Void) -> Item? {
        task(of: item).map { .registration($0.uponCancel(execute: body)) }
    }

    func uponProgress(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Double) -> Void) -> Item? {
        task(of: item).map { .registration($0.uponProgress(on: executor) { body($0.fraction) }) }
    }

    // MARK: - Operators

    /// Converts the result of a closure for an operator that expects a value; an item becomes a number.
    private static func value(_ transformed: Transformed<Item>) -> Value {
        switch transformed {
        case .value(let value): value
        case .item: .failure(TestError(number: 999))
        }
    }

    private func task(_ transformed: Transformed<Item>) throws -> Task {
        switch transformed {
        case .value(let value): return .success(try value.get())
        case .item(.task(let task)): return task
        case .item(let item): return future(of: item).map { Task($0) } ?? .failure(TestError(number: 998))
        }
    }

    private func future(_ transformed: Transformed<Item>) -> Future<Value> {
        switch transformed {
        case .value(let value): Future(value: value)
        case .item(let item): future(of: item) ?? Future(value: .failure(TestError(number: 998)))
        }
    }

    func map(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        func map(_ executor: some Executor) -> Item? {
            if !core, case .task(let task) = item {
                return .task(task.map(on: executor) { try Self.value(body(.success($0))).get() })
            }
            return future(of: item).map { future in .future(future.map(on: executor) { Self.value(body($0)) }) }
        }
        return map(executor)
    }

    func flatMap(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        func flatMap(_ executor: some Executor) -> Item? {
            if !core, case .task(let task) = item {
                return .task(task.flatMap(on: executor) { [self] in try self.task(body(.success($0))) })
            }
            return future(of: item).map { future in
                .future(future.flatMap(on: executor) { [self] in self.future(body($0)) })
            }
        }
        return flatMap(executor)
    }

    func ignored(_ item: Item, core: Bool) -> Item? {
        let counts = counts
        if !core, case .task(let task) = item {
            return .task(task.ignored().map { Payload(7, counts) })
        }
        return future(of: item).map { .future($0.ignored().map { .success(Payload(7, counts)) }) }
    }

    func recover(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        func recover(_ executor: some Executor) -> Item? {
            task(of: item).map {
                .task($0.recover(on: executor) { try Self.value(body(.failure($0))).get() })
            }
        }
        return recover(executor)
    }

    func mapError(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        func mapError(_ executor: some Executor) -> Item? {
            task(of: item).map {
                .task(
                    $0.mapError(on: executor) { error in
                        let transformed = body(.failure(error))
                        // A success stands for an error with its number, and a failure is thrown.
                        return TestError(number: try Self.value(transformed).get().number)
                    }
                )
            }
        }
        return mapError(executor)
    }

    func always(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        func always(_ executor: some Executor) -> Item? { task(of: item).map { .task($0.always(on: executor, body)) } }
        return always(executor)
    }

    func fallback(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        func fallback(_ executor: some Executor) -> Item? {
            task(of: item).map {
                .task($0.fallback(on: executor) { [self] in try self.task(body(.failure($0))) })
            }
        }
        return fallback(executor)
    }

    func delay(_ item: Item, core: Bool, _ seconds: Int) -> Item? {
        if !core, case .task(let task) = item { return .task(task.delay(for: .seconds(seconds), clock: clock)) }
        return future(of: item).map { .future($0.delay(for: .seconds(seconds), clock: clock)) }
    }

    func timeout(_ item: Item, _ seconds: Int) -> Item? {
        task(of: item).map { .task($0.timeout(after: .seconds(seconds), clock: clock)) }
    }

    func retry(_ attempts: Int, _ pause: Int, _ executor: any Executor, _ body: @escaping Transformation) -> Item {
        let policy = RetryPolicy(attempts: attempts, base: .seconds(pause), clock: clock, random: { 1 })
        let counts = counts
        func retry(_ executor: some Executor) -> Item {
            .task(
                Task.retry(policy, on: executor) { [self] attempt in
                    try task(body(.success(Payload(attempt, counts))))
                }
            )
        }
        return retry(executor)
    }

    func shared(_ item: Item) -> Item? { task(of: item).map { .task($0.shared()) } }

    func cancelledBy(_ item: Item, _ source: Item) -> Item? {
        guard case .task(let task) = item, case .source(let source) = source else { return nil }
        return .task(task.cancelled(by: source.token))
    }

    // MARK: - Combining

    func zip(_ one: Item, _ other: Item) -> Item? {
        guard let one = future(of: one), let other = future(of: other) else { return nil }
        let counts = counts
        return .future(DeferredCore.zip(one, other).map { combine([$0, $1], counts) })
    }

    func zipTasks(_ one: Item, _ other: Item) -> Item? {
        guard let one = task(of: one), let other = task(of: other) else { return nil }
        let counts = counts
        let text = other.map { "\($0.number)" }
        return .task(
            DeferredTask.zip(one, text).map { payload, text in
                try combine([.success(payload), .success(Payload(Int(text) ?? 0, counts))], counts).get()
            }
        )
    }

    func allFilled(_ items: [Item]) -> Item {
        let counts = counts
        return .future(items.compactMap { future(of: $0) }.allFilled().map { combine($0, counts) })
    }

    func firstFilled(_ items: [Item]) -> Item { .future(items.compactMap { future(of: $0) }.firstFilled()) }

    func allSucceeded(_ items: [Item]) -> Item {
        let counts = counts
        return .task(
            items.compactMap { task(of: $0) }.allSucceeded().map { try combine($0.map { .success($0) }, counts).get() }
        )
    }

    func firstSucceeded(_ items: [Item]) -> Item { .task(items.compactMap { task(of: $0) }.firstSucceeded()) }
    func firstCompleted(_ items: [Item]) -> Item { .task(items.compactMap { task(of: $0) }.firstCompleted()) }

    func mapTasks(_ count: Int, _ limit: Int, _ body: @escaping Transformation) -> Item {
        let counts = counts
        let all: DeferredTask.Task<[Payload]> = (0..<count).mapTasks(maxConcurrent: limit) { [self] index in
            try task(body(.success(Payload(index, counts))))
        }
        return .task(all.map { try combine($0.map { .success($0) }, counts).get() })
    }

    // MARK: - Cancelling

    func cancel(_ item: Item) -> Bool {
        switch item {
        case .task(let task): task.cancel()
        case .registration(let registration): registration.cancel()
        case .source(let source): source.cancel()
        case .request(let request): request.cancel()
        case .latest(let latest): latest.cancel()
        case .progress(let progress): progress.cancel()
        default: return false
        }
        return true
    }

    func source() -> Item { .source(CancellationTokenSource()) }

    func linkedSource(_ items: [Item]) -> Item {
        let tokens = items.compactMap { if case .source(let source) = $0 { source.token } else { nil } }
        return switch tokens.count {
        case 0: .source(CancellationTokenSource())
        case 1: .source(CancellationTokenSource(linkedTo: tokens[0]))
        default: .source(CancellationTokenSource(linkedTo: tokens[0], tokens[1]))
        }
    }

    func register(_ source: Item, _ body: @escaping @Sendable () -> Void) -> Item? {
        guard case .source(let source) = source else { return nil }
        return .registration(source.token.register(body))
    }

    func cancelAfter(_ source: Item, _ seconds: Int) {
        if case .source(let source) = source { source.cancel(after: .seconds(seconds), clock: clock) }
    }

    func request(_ item: Item) -> Item? {
        switch item {
        case .task(let task): .request(RequestToken(task))
        case .registration(let registration): .request(RequestToken(registration))
        case .source(let source): .request(RequestToken(source))
        case .request(let request): .request(RequestToken(request))
        default: nil
        }
    }

    func latest() -> Item { .latest(LatestTask()) }

    func start(
        _ latest: Item,
        _ task: Item,
        _ executor: any Executor,
        _ body: @escaping @Sendable (Value) -> Void
    ) -> Bool {
        guard case .latest(let latest) = latest, case .task(let task) = task else { return false }
        func start(_ executor: some Executor) { latest.start(task, on: executor, deliver: body) }
        start(executor)
        return true
    }

    func startAfter(
        _ latest: Item,
        _ seconds: Int,
        _ executor: any Executor,
        _ begin: @escaping Transformation,
        _ body: @escaping @Sendable (Value) -> Void
    ) -> Bool {
        guard case .latest(let latest) = latest else { return false }
        let counts = counts
        func start(_ executor: some Executor) {
            latest.start(after: .seconds(seconds), clock: clock, on: executor) { [self] in
                try task(begin(.success(Payload(seconds, counts))))
            } deliver: {
                body($0)
            }
        }
        start(executor)
        return true
    }

    // MARK: - Progress

    func reporter() -> Item { .reporter(ProgressReporter()) }

    func report(_ reporter: Item, _ completed: Int) {
        if case .reporter(let reporter) = reporter { reporter.report(completed: Int64(completed), of: 10) }
    }

    func fraction(_ item: Item) -> Double? {
        switch item {
        case .task(let task): task.progress.fractionCompleted
        case .progress(let progress): progress.fractionCompleted
        default: nil
        }
    }

    func hold(_ item: Item) -> Item? { task(of: item).map { .progress($0.progress) } }

    // MARK: - Inspecting

    func peek(_ item: Item) -> Value?? {
        switch item {
        case .deferred(let deferred): .some(deferred.peek())
        case .promise(let promise): .some(promise.peek())
        case .future(let future): .some(future.peek())
        case .task(let task): .some(task.peek())
        default: nil
        }
    }

    func wait(_ item: Item) -> Value?? { future(of: item).map { $0.wait(until: .now()) } }

    func isCancelled(_ item: Item) -> Bool? {
        switch item {
        case .task(let task): task.isCancelled
        case .registration(let registration): registration.isCancelled
        case .source(let source): source.isCancelled
        default: nil
        }
    }

    func isTask(_ item: Item) -> Bool {
        if case .task = item { true } else { false }
    }

    // MARK: - Time

    func advance(_ seconds: Int) { clock.advance(by: .seconds(seconds)) }
    func runJobs() { jobs.run() }
    func collectJobs(_ body: () -> Void) { jobs.collect(body) }
}

/// Combines several results into one that depends on each of them.
func combine(_ values: [Value], _ counts: Counts) -> Value {
    var number = 1
    for value in values { number = (number * 31 + code(value) + 200) % 9973 }
    return .success(Payload(number, counts))
}
