import DeferredCore
import DeferredTask

// Tasks of the model: cancellation and children.

/// The cancellation state of a task, with the objects to notify of its cancellation.
final class ModelState: @unchecked Sendable {
    private(set) var isCancelled = false
    private(set) var isOver = false
    private weak var future: ModelFuture?
    var handler: (@Sendable () -> Void)?
    var children: ModelChildren?
    var notice: ModelUpon?
    var links: [ModelBell.Handler] = []
    private var bell: ModelBell?

    init(_ future: ModelFuture) {
        self.future = future
    }

    var hasEnded: Bool { isOver || hasValue }
    var hasValue: Bool { future?.value != nil }

    /// Requests cancellation; the first time before the end, returns the handlers to call, newest first.
    func cancel() -> [@Sendable () -> Void]? {
        guard !isCancelled, !hasEnded else { return nil }
        isCancelled = true
        for link in links { link.cancel() }
        links = []
        var handlers: [@Sendable () -> Void] = []
        if let bell = bell.take() { handlers.append { bell.ring() } }
        if let handler = handler.take() { handlers.append(handler) }
        return handlers
    }

    func register(_ body: @escaping @Sendable () -> Void) -> ModelBell.Handler? {
        if hasEnded { return nil }
        if isCancelled {
            body()
            return nil
        }
        let bell = self.bell ?? ModelBell()
        self.bell = bell
        return bell.register(body)
    }

    func end() {
        let children = children
        letGo()
        children?.end(cancelling: false)
    }

    /// Releases everything when the task can't be cancelled any more, or has nothing left to cancel.
    func letGo() {
        isOver = true
        notice?.cancel()
        bell?.drop()
        for link in links { link.cancel() }
        (handler, children, notice, bell, links) = (nil, nil, nil, nil, [])
    }
}

/// The cancelling side of a task; it lives as long as the task can be cancelled.
///
/// Of a plain stage, what is registered with its cancellation is kept as long as the nearest control upstream that is not
/// plain, and so as long as anybody holds a task of the chain.
final class ModelControl: @unchecked Sendable {
    let stage: ModelControlStage
    /// The nearest control upstream that is not plain.
    let upstream: ModelControl?
    let isShared: Bool
    fileprivate let isPlain: Bool
    private weak var consumer: ModelControlStage.Consumer?

    var state: ModelState { stage.state }

    init(
        _ state: ModelState,
        stage: ModelStage? = nil,
        upstream: ModelControl? = nil,
        children: ModelChildren? = nil,
        isShared: Bool = false,
        isPassing: Bool = false
    ) {
        self.isShared = isShared
        let new = ModelControlStage(state, stage: stage, upstream: upstream?.stage, children: children)
        self.stage = new
        self.upstream = upstream?.isPlain == true ? upstream?.upstream : upstream
        state.children = children
        isPlain = upstream != nil && children == nil && !isShared && !isPassing && upstream?.isShared == false
        new.isPlain = isPlain
        if isPlain { self.upstream?.stage.plainStages.append(new) }
        if let upstream, isShared || upstream.isShared {
            let consumer = ModelControlStage.Consumer()
            consumer.control = self
            consumer.future = stage?.output
            upstream.stage.consumers.append(consumer)
            (self.consumer, new.consumer) = (consumer, consumer)
        }
    }

    deinit {
        if isPlain { return }
        state.letGo()
        for plain in stage.plainStages { plain.state.letGo() }
        stage.plainStages = []
        if consumer != nil, let upstream = stage.upstream, upstream.isUnwanted { upstream.cancel() }
    }

    func cancel() { stage.cancel() }
}

/// One stage of a chain of controls.
final class ModelControlStage: @unchecked Sendable {
    let state: ModelState
    fileprivate let upstream: ModelControlStage?
    private let stage: ModelStage?
    private let children: ModelChildren?
    /// The plain stages up to the next controls, while anybody could cancel them.
    fileprivate var plainStages: [ModelControlStage] = []
    /// The consumers of a shared task. One counts until it has cancelled, or is released while nothing waits for its
    /// result.
    fileprivate var consumers: [Consumer] = []
    fileprivate weak var consumer: Consumer?
    fileprivate var isPlain = false

    final class Consumer {
        weak var control: ModelControl?
        weak var future: ModelFuture?
        var hasCancelled = false

        var counts: Bool {
            !hasCancelled && (control != nil || future.map { $0.value == nil && !$0.handlers.isEmpty } ?? false)
        }
    }

    fileprivate init(
        _ state: ModelState,
        stage: ModelStage?,
        upstream: ModelControlStage?,
        children: ModelChildren?
    ) {
        (self.state, self.stage, self.upstream, self.children) = (state, stage, upstream, children)
        stage?.state = state
    }

    /// True if a consumer has cancelled, and none is left that counts.
    fileprivate var isUnwanted: Bool {
        consumers.contains { $0.hasCancelled } && !consumers.contains { $0.counts }
    }

    /// The nearest task upstream that is no plain stage that has ended, perhaps by its own cancellation: the task that such a
    /// stage was derived from may not have been asked yet.
    private var upstreamToCancel: ModelControlStage? {
        var result = upstream
        while let stage = result, stage.isPlain, stage.state.hasValue { result = stage.upstream }
        return result
    }

    /// Ends the task without cancelling it, but those that it was derived from.
    func timeOut(with error: TimeoutError) {
        stage?.abandon(with: .failure(error)) {
            consumer?.hasCancelled = true
            if let upstream = upstreamToCancel, consumer == nil || upstream.isUnwanted { upstream.cancel() }
        }
    }

    func cancel() {
        var pending = [self]
        while let current = pending.popLast() {
            guard let handlers = current.state.cancel() else { continue }
            let upstream = current.upstreamToCancel
            // The stage first, so that it fails as cancelled and not with its upstream's reaction to the cancellation.
            current.stage?.abandon()
            for handler in handlers { handler() }
            let children = current.children?.cancel() ?? []
            current.consumer?.hasCancelled = true
            if let upstream, current.consumer == nil || upstream.isUnwanted { pending.append(upstream) }
            pending += children.reversed().map(\.stage)
        }
    }
}

/// The tasks that another task has started or was combined from.
final class ModelChildren: @unchecked Sendable {
    private var running: [(key: Int, control: ModelControl, handler: ModelUpon?)] = []
    private var lastKey = 0
    private var isCancelled = false
    private var isEnded = false

    func started(_ control: ModelControl?) -> Int {
        lastKey += 1
        let key = lastKey
        if isEnded {
            control?.cancel()
        } else if let control {
            running.append((key, control, nil))
            if isCancelled { control.cancel() }
        }
        return key
    }

    func wait(_ key: Int, _ handler: ModelUpon) {
        if isEnded { return handler.cancel() }
        for index in running.indices where running[index].key == key { running[index].handler = handler }
    }

    func ended(_ key: Int) { running.removeAll { $0.key == key } }

    func cancel() -> [ModelControl] {
        isCancelled = true
        return running.map(\.control)
    }

    func end(cancelling: Bool) {
        isEnded = true
        let children = running
        running = []
        guard cancelling else { return }
        for child in children {
            child.handler?.cancel()
            child.control.cancel()
        }
    }
}

/// A user's reference to a task.
struct ModelTask: Sendable {
    let handle: ModelHandle
    let control: ModelControl?

    var future: ModelFuture { handle.future }

    init(_ future: ModelFuture, _ control: ModelControl?) {
        handle = ModelHandle(future)
        self.control = control
    }

    init(_ value: Value) { self.init(ModelFuture(value), nil) }

    /// Creates a task that ends when `future` is filled from outside.
    init(
        root future: ModelFuture,
        children: ModelChildren? = nil,
        isReporting: Bool = false,
        _ onCancel: (@Sendable () -> Void)? = nil
    ) {
        guard future.value == nil || isReporting else {
            self.init(future, nil)
            return
        }
        let state = ModelState(future)
        state.handler = onCancel
        let control = ModelControl(state, children: children)
        self.init(future, control)
        guard future.value == nil else {
            state.end()
            return
        }
        let notice = ModelUpon { [weak state] _ in state?.end() }
        state.notice = notice
        future.add(notice)
    }

    func derive(
        _ executor: any Executor,
        children: ModelChildren? = nil,
        isShared: Bool = false,
        isPassing: Bool = false,
        endsWhenCancelled: Bool = true,
        shortcut: @escaping (Value) -> Bool,
        _ body: @escaping ModelStage.Body
    ) -> ModelTask {
        let output = ModelFuture()
        let stage = ModelStage(
            output,
            isTask: true,
            endsWhenCancelled: endsWhenCancelled,
            executor,
            shortcut: shortcut,
            body
        )
        let state = ModelState(output)
        output.state = state
        let control = ModelControl(
            state,
            stage: stage,
            upstream: control,
            children: children,
            isShared: isShared,
            isPassing: isPassing
        )
        let task = ModelTask(output, control)
        future.add(stage)
        return task
    }
}

/// Counts the references that users have to a future.
final class ModelHandle: @unchecked Sendable {
    let future: ModelFuture
    init(_ future: ModelFuture) {
        self.future = future
        future.handles += 1
    }

    deinit { future.handles -= 1 }
}

/// The producing end of a task.
final class ModelPromise: @unchecked Sendable {
    let handle: ModelHandle

    init() { handle = ModelHandle(ModelFuture()) }

    deinit { handle.future.fill(.failure(ModelError.brokenPromise)) }
}
