import DeferredCore
import DeferredTask

/// The model, as the universe of programs.
final class ModelUniverse: Universe {
    enum Item: Sendable {
        case deferred(ModelHandle)
        case promise(ModelPromise)
        case future(ModelHandle)
        case task(ModelTask)
        case handler(ModelHandler?)
        case registered(ModelBell.Handler?)
        case source(ModelSource)
        case request(ModelRequest)
        case latest(ModelLatest)
        case reporter
        case progress(ModelControl?)
    }

    let counts: Counts
    private let clock = ModelClock()

    init(_ counts: Counts) { self.counts = counts }

    private func future(of item: Item) -> ModelFuture? {
        switch item {
        case .deferred(let handle), .future(let handle): handle.future
        case .promise(let promise): promise.handle.future
        case .task(let task): task.future
        default: nil
        }
    }

    private func task(of item: Item) -> ModelTask? {
        if case .task(let task) = item { task } else { nil }
    }

    private func new(_ future: ModelFuture) -> Item { .future(ModelHandle(future)) }

    // MARK: - Creating and filling

    func deferred() -> Item { .deferred(ModelHandle(ModelFuture())) }
    func promise() -> Item { .promise(ModelPromise()) }
    func filled(_ value: Value) -> Item { new(ModelFuture(value)) }
    func never() -> Item { .task(ModelTask(root: ModelFuture())) }
    func task(of value: Value) -> Item { .task(ModelTask(value)) }

    func task(_ producer: Item, _ reporter: Item?, failsOnCancel: Bool, _ onCancel: (@Sendable () -> Void)?) -> Item? {
        guard let future = future(of: producer) else { return nil }
        var handler = onCancel
        switch producer {
        case .promise(let promise) where failsOnCancel || onCancel != nil:
            // The handler does not retain the promise: without the promise there is nothing left to cancel.
            handler = { [weak promise] in
                guard let promise else { return }
                if failsOnCancel { promise.handle.future.fill(.failure(CancellationError())) }
                onCancel?()
            }
        default: break
        }
        return .task(ModelTask(root: future, isReporting: reporter != nil, handler))
    }

    func taskOfValue(_ item: Item) -> Item? {
        let counts = counts
        return future(of: item).map { future in
            let value = map(future) { .success(Payload(code($0), counts)) }
            return .task(ModelTask(root: map(value.future) { $0 }.future))
        }
    }

    func async(_ executor: any Executor, _ body: @escaping @Sendable () -> Value) -> Item {
        let handle = ModelHandle(ModelFuture())
        executor.submit { [future = handle.future] in future.fill(body()) }
        return .future(handle)
    }

    func fill(_ producer: Item, _ value: Value) -> Bool? {
        switch producer {
        case .deferred(let handle): handle.future.fill(value)
        case .promise(let promise): promise.handle.future.fill(value)
        default: nil
        }
    }

    // MARK: - Handlers

    func upon(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        future(of: item).map { future in
            let handler = ModelUpon(executor, body)
            let isDone = future.value != nil && executor is ImmediateExecutor
            future.add(handler)
            return .handler(isDone ? nil : handler)
        }
    }

    func uponSuccess(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        guard case .task = item else { return nil }
        return upon(item, executor) { if case .success = $0 { body($0) } }
    }

    func uponFailure(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        guard case .task = item else { return nil }
        return upon(item, executor) { if case .failure = $0 { body($0) } }
    }

    func uponCancel(_ item: Item, _ body: @escaping @Sendable () -> Void) -> Item? {
        task(of: item).map { .registered($0.control?.state.register(body)) }
    }

    /// Never calls the closure, but retains the task until the end.
    func uponProgress(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Double) -> Void) -> Item? {
        task(of: item).flatMap { task in
            // Retained like a reference that can cancel, not like one that waits.
            upon(item, executor) { [control = task.control] _ in withExtendedLifetime((control, body)) {} }
        }
    }

    // MARK: - Operators

    private static func value(_ transformed: Transformed<Item>) -> Value {
        switch transformed {
        case .value(let value): value
        case .item: .failure(TestError(number: 999))
        }
    }

    private func task(_ transformed: Transformed<Item>) -> ModelTask {
        switch transformed {
        case .value(let value): ModelTask(value)
        case .item(.task(let task)): task
        case .item(let item):
            future(of: item).map { ModelTask(root: $0) } ?? ModelTask(.failure(TestError(number: 998)))
        }
    }

    private func map(
        _ future: ModelFuture,
        _ executor: any Executor = .immediate,
        _ body: @escaping @Sendable (Value) -> Value
    ) -> ModelHandle {
        if executor is ImmediateExecutor, let value = future.value { return ModelHandle(ModelFuture(body(value))) }
        let handle = ModelHandle(ModelFuture())
        let stage = ModelStage(handle.future, isTask: false, executor, shortcut: { _ in false }) { .value(body($0)) }
        future.add(stage)
        return handle
    }

    private func map(
        _ task: ModelTask,
        _ executor: any Executor = .immediate,
        _ body: @escaping @Sendable (Value) -> Value
    ) -> Item {
        if executor is ImmediateExecutor, let value = task.future.value {
            return .task(ModelTask(isFailure(value) ? value : body(value)))
        }
        return .task(task.derive(executor, shortcut: isFailure) { .value(body($0)) })
    }

    func map(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        if !core, case .task(let task) = item { return map(task, executor) { Self.value(body($0)) } }
        return future(of: item).map { .future(map($0, executor) { Self.value(body($0)) }) }
    }

    func flatMap(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        if !core, case .task(let task) = item {
            return nest(task, executor, shortcut: isFailure, body)
        }
        let future: (Transformed<Item>) -> ModelFuture = { [self] transformed in
            switch transformed {
            case .value(let value): ModelFuture(value)
            case .item(let item): self.future(of: item) ?? ModelFuture(.failure(TestError(number: 998)))
            }
        }
        guard let upstream = self.future(of: item) else { return nil }
        if executor is ImmediateExecutor, let value = upstream.value { return new(future(body(value))) }
        nonisolated(unsafe) let inner = future
        let output = ModelFuture()
        let stage = ModelStage(output, isTask: false, executor, shortcut: { _ in false }) { .future(inner(body($0))) }
        let result = new(output)
        upstream.add(stage)
        return result
    }

    /// Models `flatMap` and `fallback` of tasks.
    private func nest(
        _ task: ModelTask,
        _ executor: any Executor,
        shortcut: @escaping (Value) -> Bool,
        _ body: @escaping Transformation
    ) -> Item {
        if executor is ImmediateExecutor, let value = task.future.value {
            if shortcut(value) { return .task(isFailure(value) ? ModelTask(value) : task) }
            let transformed = body(value)
            if case .value(let value) = transformed { return .task(ModelTask(value)) }
            return .task(self.task(transformed))
        }
        let children = ModelChildren()
        return .task(
            task.derive(executor, children: children, shortcut: shortcut) { [self] value in
                let transformed = body(value)
                if case .value(let value) = transformed { return .value(value) }
                let inner = self.task(transformed)
                _ = children.started(inner.control)
                return .future(inner.future)
            }
        )
    }

    func ignored(_ item: Item, core: Bool) -> Item? {
        let counts = counts
        let body: @Sendable (Value) -> Value = { _ in .success(Payload(7, counts)) }
        if !core, case .task(let task) = item, case .task(let ignored) = map(task, .immediate, { $0 }) {
            return map(ignored, .immediate, body)
        }
        return future(of: item).map { .future(map(map($0) { $0 }.future, .immediate, body)) }
    }

    func recover(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        task(of: item).map {
            .task($0.derive(executor, shortcut: { !isFailure($0) }) { .value(Self.value(body($0))) })
        }
    }

    func mapError(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        task(of: item).map {
            .task(
                $0.derive(executor, shortcut: { !isFailure($0) }) { value in
                    switch Self.value(body(value)) {
                    case .success(let payload): .value(.failure(TestError(number: payload.number)))
                    case .failure(let error): .value(.failure(error))
                    }
                }
            )
        }
    }

    func always(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item? {
        task(of: item).map { task in
            if executor is ImmediateExecutor, let value = task.future.value {
                body(value)
                return item
            }
            return .task(
                task.derive(executor, endsWhenCancelled: false, shortcut: { _ in false }) { value in
                    body(value)
                    return .value(value)
                }
            )
        }
    }

    func fallback(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item? {
        task(of: item).map { nest($0, executor, shortcut: { !isFailure($0) }, body) }
    }

    func delay(_ item: Item, core: Bool, _ seconds: Int) -> Item? {
        let clock = clock
        if !core, case .task(let task) = item {
            let combination = ModelCombination()
            let result = combination.task(endsAtOnce: true)
            combination.add(task) { value in
                combination.keep(clock.timer(after: seconds) { combination.end(value) })
            }
            return .task(result)
        }
        return future(of: item).map { future in
            let result = ModelHandle(ModelFuture())
            let output = result.future
            future.add(ModelUpon { value in clock.timer(after: seconds) { output.fill(value) } })
            return .future(result)
        }
    }

    func timeout(_ item: Item, _ seconds: Int) -> Item? {
        guard let task = task(of: item) else { return nil }
        if task.future.value != nil { return item }
        let result = task.derive(.immediate, isPassing: true, shortcut: { _ in true }) { .value($0) }
        // What keeps the task until its end.
        let kept = ModelKept(result)
        let timer = clock.timer(after: seconds) {
            kept.task.take()?.control?.stage.timeOut(with: TimeoutError(duration: .seconds(seconds)))
        }
        result.future.add(
            ModelUpon { _ in
                timer.isCancelled = true
                kept.task = nil
            }
        )
        return .task(result)
    }

    func retry(_ attempts: Int, _ pause: Int, _ executor: any Executor, _ body: @escaping Transformation) -> Item {
        let combination = ModelCombination()
        let result = combination.task(endsAtOnce: true)
        let (clock, counts) = (clock, counts)
        @Sendable func attempt(_ number: Int) {
            executor.submit { [self] in
                guard !combination.isEnded else { return }
                let transformed = body(.success(Payload(number, counts)))
                if case .value(.failure(let error)) = transformed { return ended(number, .failure(error)) }
                combination.add(task(transformed)) { ended(number, $0) }
            }
        }
        @Sendable func ended(_ number: Int, _ value: Value) {
            guard case .failure(let error) = value, number < attempts, !error.isCancellation else {
                return combination.end(value)
            }
            let longest = min(pause << (number - 1), 30)
            combination.keep(clock.timer(after: longest) { attempt(number + 1) })
        }
        attempt(1)
        return .task(result)
    }

    func shared(_ item: Item) -> Item? {
        guard let task = task(of: item) else { return nil }
        if task.future.value != nil { return item }
        return .task(task.derive(.immediate, isShared: true, shortcut: { _ in true }) { .value($0) })
    }

    func cancelledBy(_ item: Item, _ source: Item) -> Item? {
        guard case .task(let task) = item, case .source(let source) = source else { return nil }
        guard let control = task.control else { return item }
        // The source's holder can cancel, also when nobody holds the task.
        let hold = ModelHold(control)
        task.future.holds.append(hold)
        let link = source.bell.register { hold.cancel() }
        if control.state.hasEnded || control.state.isCancelled {
            link.cancel()
        } else {
            control.state.links.append(link)
        }
        return item
    }

    // MARK: - Combining

    func zip(_ one: Item, _ other: Item) -> Item? {
        guard let one = future(of: one), let other = future(of: other) else { return nil }
        return .future(map(ModelGathering([one, other], counts).output) { $0 })
    }

    func zipTasks(_ one: Item, _ other: Item) -> Item? {
        let counts = counts
        guard task(of: one) != nil, let other = task(of: other) else { return nil }
        let text = map(other, .immediate) { value in value.map { Payload($0.number, counts) } }
        return allSucceeded([one, text])
    }

    func allFilled(_ items: [Item]) -> Item {
        .future(map(ModelGathering(items.compactMap { future(of: $0) }, counts).output) { $0 })
    }

    func firstFilled(_ items: [Item]) -> Item { new(ModelContest(items.compactMap { future(of: $0) }).output) }

    /// Returns all successes once they are there, or the first failure.
    private func gather(_ values: ModelValues, _ index: Int, _ value: Value) -> Value? {
        if isFailure(value) { return value }
        return values.put(value, at: index).map { combine($0, counts) }
    }

    func allSucceeded(_ items: [Item]) -> Item {
        let tasks = items.compactMap { task(of: $0) }
        if tasks.isEmpty { return .task(ModelTask(combine([], counts))) }
        let combination = ModelCombination()
        let values = ModelValues(tasks.count)
        let result = combination.task()
        for (index, task) in tasks.enumerated() {
            combination.add(task) { [self] in if let end = gather(values, index, $0) { combination.end(end) } }
        }
        return map(result) { $0 }
    }

    func firstSucceeded(_ items: [Item]) -> Item {
        let tasks = items.compactMap { task(of: $0) }
        if tasks.isEmpty { return .task(ModelTask(.failure(ModelError.allFailed))) }
        let combination = ModelCombination()
        let errors = ModelValues(tasks.count)
        let result = combination.task()
        for (index, task) in tasks.enumerated() {
            combination.add(task) { value in
                if !isFailure(value) { return combination.end(value) }
                if errors.put(value, at: index) != nil { combination.end(.failure(ModelError.allFailed)) }
            }
        }
        return .task(result)
    }

    func firstCompleted(_ items: [Item]) -> Item {
        let combination = ModelCombination()
        let result = combination.task()
        for task in items.compactMap({ task(of: $0) }) { combination.add(task) { combination.end($0) } }
        return .task(result)
    }

    func mapTasks(_ count: Int, _ limit: Int, _ body: @escaping Transformation) -> Item {
        if count == 0 { return .task(ModelTask(combine([], counts))) }
        let combination = ModelCombination()
        let values = ModelValues(count)
        let result = combination.task(endsAtOnce: true)
        let fanOut = ModelFanOut()
        let counts = counts
        @Sendable func run() {
            guard !fanOut.isStarting else { return }
            fanOut.isStarting = true
            while !combination.isEnded, fanOut.next < count, fanOut.running < limit {
                let index = fanOut.next
                fanOut.next += 1
                fanOut.running += 1
                let transformed = body(.success(Payload(index, counts)))
                if case .value(.failure(let error)) = transformed {
                    combination.end(.failure(error))
                } else {
                    combination.add(task(transformed)) { [self] value in
                        if !isFailure(value) { fanOut.running -= 1 }
                        if let end = gather(values, index, value) { combination.end(end) } else { run() }
                    }
                }
            }
            fanOut.isStarting = false
        }
        run()
        return map(result) { $0 }
    }

    // MARK: - Cancelling

    func cancel(_ item: Item) -> Bool {
        switch item {
        case .task(let task): task.control?.cancel()
        case .progress(let control): control?.cancel()
        case .handler(let handler): handler?.cancel()
        case .registered(let handler): handler?.cancel()
        case .source(let source): source.bell.ring()
        case .request(let request): request.target.take()?()
        case .latest(let latest): latest.cancel()
        default: return false
        }
        return true
    }

    func source() -> Item { .source(ModelSource([])) }

    func linkedSource(_ items: [Item]) -> Item {
        .source(ModelSource(items.compactMap { if case .source(let source) = $0 { source } else { nil } }.prefix(2)))
    }

    func register(_ source: Item, _ body: @escaping @Sendable () -> Void) -> Item? {
        guard case .source(let source) = source else { return nil }
        return .registered(source.bell.register(body))
    }

    func cancelAfter(_ source: Item, _ seconds: Int) {
        guard case .source(let source) = source else { return }
        let timer = clock.timer(after: seconds) { [weak source] in source?.bell.ring() }
        timer.isCancelled = source.bell.isRung
    }

    func request(_ item: Item) -> Item? {
        switch item {
        case .task, .handler, .registered, .source, .request:
            .request(ModelRequest { [self] in _ = cancel(item) })
        default: nil
        }
    }

    func latest() -> Item { .latest(ModelLatest()) }

    func start(_ latest: Item, _ task: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void)
        -> Bool
    {
        guard case .latest(let latest) = latest, case .task(let task) = task else { return false }
        latest.start(task, executor, body)
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
        let pause = delay(.task(ModelTask(.success(Payload(seconds, counts)))), core: false, seconds)
        guard let pause, case .task(let task)? = flatMap(pause, core: false, executor, begin) else { return false }
        latest.start(task, executor, body)
        return true
    }

    // MARK: - Progress: only its range and its direction are checked, not its value

    func reporter() -> Item { .reporter }
    func report(_ reporter: Item, _ completed: Int) {}

    func fraction(_ item: Item) -> Double? {
        switch item {
        case .task, .progress: 0
        default: nil
        }
    }

    func hold(_ item: Item) -> Item? { task(of: item).map { .progress($0.control) } }

    // MARK: - Inspecting

    func peek(_ item: Item) -> Value?? { future(of: item).map(\.value) }

    func wait(_ item: Item) -> Value?? { peek(item) }

    func isCancelled(_ item: Item) -> Bool? {
        switch item {
        case .task(let task): task.control?.state.isCancelled ?? false
        case .handler(let handler): handler?.place == .cancelled
        case .registered(let handler): handler?.isCancelled ?? false
        case .source(let source): source.bell.isRung
        default: nil
        }
    }

    func isTask(_ item: Item) -> Bool { task(of: item) != nil }

    // MARK: - Time

    func advance(_ seconds: Int) { clock.advance(seconds) }
    func runJobs() { clock.run() }
    func collectJobs(_ body: () -> Void) { body() }
}

@Sendable
private func isFailure(_ value: Value) -> Bool {
    if case .failure = value { true } else { false }
}

/// A task, until it is taken.
private final class ModelKept: @unchecked Sendable {
    var task: ModelTask?

    init(_ task: ModelTask) { self.task = task }
}
