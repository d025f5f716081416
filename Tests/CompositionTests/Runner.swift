import DeferredCore
import DeferredTesting
import Foundation
import Synchronization

/// An event of a run, of only a few words, so that comparing traces costs little.
struct Event: Equatable, Sendable {
    enum Kind: UInt8, Sendable {
        /// A step begins at the top level.
        case step
        /// A closure was called; the value is the code of its input.
        case called
        case filled
        case observed
        case isCancelled
        /// A fraction was outside of 0...1, smaller than one before, or not 1 after a success.
        case wrongFraction
        /// The captures that are alive: one event for each word of `Counts.alive`.
        case alive
    }

    var kind: Kind
    var step: Int32
    var value: Int

    init(_ kind: Kind, _ step: Int, _ value: Int) {
        (self.kind, self.step, self.value) = (kind, Int32(step), value)
    }
}

/// Runs a program on the library or on the model.
///
/// SAFETY: with several threads, `lock` is held for everything that changes; otherwise there is only one.
final class Runner<U: Universe>: @unchecked Sendable {
    let program: Program
    let universe: U
    let isThreaded: Bool
    private(set) var trace: [Event] = []
    private var slots: [U.Item?]
    private var fractions: [Double]
    private let lock = NSLock()
    private let manual = ManualExecutor()
    /// The executor for progress, whose number of deliveries is unspecified.
    private let progressQueue = ManualExecutor()
    private var executors: [any Executor] = []
    private let depth = Atomic(0)
    private let performed = Atomic(0)

    /// The records of a run with several threads, which are checked at its end.
    let records = Records<U.Item>()

    init(_ program: Program, _ universe: U, isThreaded: Bool = false) {
        self.program = program
        self.universe = universe
        self.isThreaded = isThreaded
        slots = Array(repeating: nil, count: program.count)
        fractions = Array(repeating: 0, count: program.count)
        if !isThreaded { trace.reserveCapacity(256) }
        for kind in ExecutorKind.allCases {
            switch kind {
            case .immediate: executors.append(.immediate)
            case .manual: executors.append(manual)
            default:
                executors.append(
                    ProgramExecutor(kind) { [unowned self] in perform(program.executorSteps) }
                )
            }
        }
    }

    /// Runs the whole program, and ends everything in it.
    func run() {
        run(program.steps[...])
        finish()
    }

    func run(_ steps: some Sequence<Step>) {
        universe.collectJobs {
            for step in steps {
                log(.step, step.id, 0)
                perform(step)
                universe.runJobs()
                look(after: step)
            }
        }
    }

    /// Ends all items that can be ended, and drops everything.
    func finish() {
        universe.collectJobs {
            settle()
            drop()
        }
    }

    /// Ends all items that can be ended.
    func settle() {
        observeAll()
        if program.fillsAtEnd {
            for id in slots.indices { if let item = self[id] { _ = universe.fill(item, value(id)) } }
        }
        for _ in 0..<8 {
            manual.runAll()
            progressQueue.runAll()
            universe.advance(1000)
            universe.runJobs()
        }
        observeAll()
    }

    /// Drops everything.
    func drop() {
        // Several times, since dropping an item can run steps that create new ones.
        for _ in 0..<6 {
            for id in slots.indices.reversed() where slots[id] != nil { self[id] = nil }
            universe.runJobs()
            universe.advance(1000)
            manual.removeAll()
            progressQueue.removeAll()
        }
        universe.runJobs()
    }

    private func observeAll() {
        for id in slots.indices { observe(id) }
    }

    private func look(after step: Step) {
        observe(step.id)
        for operand in step.operands { observe(operand) }
        for (index, word) in universe.counts.alive.enumerated() { log(.alive, index, Int(bitPattern: UInt(word))) }
    }

    private func observe(_ id: Int) {
        guard let item = self[id] else { return }
        let value = universe.peek(item)
        if let value { log(.observed, id, code(value)) }
        if let isCancelled = universe.isCancelled(item) { log(.isCancelled, id, isCancelled ? 1 : 0) }
    }

    func log(_ kind: Event.Kind, _ step: Int, _ value: Int) {
        if !isThreaded { trace.append(Event(kind, step, value)) }
    }

    subscript(id: Int) -> U.Item? {
        get {
            if isThreaded { lock.lock() }
            defer { if isThreaded { lock.unlock() } }
            return id < slots.count ? slots[id] : nil
        }
        set {
            if isThreaded { lock.lock() }
            // Released outside of the lock, and after the slot has changed, since the release may run any code.
            let old = slots[id]
            slots[id] = newValue
            if isThreaded { lock.unlock() }
            withExtendedLifetime(old) {}
        }
    }

    private func value(_ number: Int) -> Value {
        number % 4 == 3 ? .failure(TestError(number: number)) : .success(Payload(number, universe.counts))
    }

    // MARK: - Closures

    func perform(_ steps: [Step]) {
        if steps.isEmpty { return }
        // All threads share these counts, which still bounds each of them.
        guard depth.load(ordering: .relaxed) < 12, performed.load(ordering: .relaxed) < 2000 else { return }
        depth.add(1, ordering: .relaxed)
        for step in steps { perform(step) }
        depth.subtract(1, ordering: .relaxed)
    }

    private func call(_ step: Step, _ value: Value?) {
        log(.called, step.id, code(value))
        perform(step.steps)
    }

    private func transform(_ step: Step, _ value: Value) -> Transformed<U.Item> {
        call(step, value)
        switch step.outcome {
        case .number(let number):
            return .value(.success(Payload((code(value) * 3 + number + 1000) % 997, universe.counts)))
        case .failure(let number): return .value(.failure(TestError(number: number)))
        case .slot(let id):
            guard let item = self[id], universe.peek(item) != nil else {
                return .value(.success(Payload(id, universe.counts)))
            }
            return .item(item)
        }
    }

    /// Makes the object that a closure captures in addition to the runner.
    private func capture(_ step: Step) -> Capture { Capture(step.id, universe.counts) }

    private func handler(_ step: Step) -> @Sendable (Value) -> Void {
        let capture = capture(step)
        return { [self] value in
            capture.touch()
            call(step, value)
        }
    }

    private func notice(_ step: Step) -> @Sendable () -> Void {
        let capture = capture(step)
        return { [self] in
            capture.touch()
            call(step, nil)
        }
    }

    private func transformation(_ step: Step) -> U.Transformation {
        let capture = capture(step)
        return { [self] value in
            capture.touch()
            return transform(step, value)
        }
    }

    // MARK: - Steps

    private func items(_ step: Step) -> [U.Item] { step.operands.compactMap { self[$0] } }

    func perform(_ step: Step) {
        performed.add(1, ordering: .relaxed)
        let first = step.operands.first.flatMap { self[$0] }
        let executor = executors[step.executor.rawValue]
        var result: U.Item?
        switch step.operation {
        case .deferred: result = universe.deferred()
        case .promise: result = universe.promise()
        case .filled: result = universe.filled(value(step.number))
        case .never: result = universe.never()
        case .success: result = universe.task(of: .success(Payload(step.number, universe.counts)))
        case .failure: result = universe.task(of: .failure(TestError(number: step.number)))
        case .async:
            let transformation = transformation(step)
            let counts = universe.counts
            result = universe.async(executor) {
                if case .value(let value) = transformation(.success(Payload(0, counts))) { return value }
                return .success(Payload(1, counts))
            }
        case .reporter: result = universe.reporter()
        case .source: result = universe.source()
        case .linkedSource: result = universe.linkedSource(items(step))
        case .latest: result = universe.latest()
        case .retry:
            result = universe.retry(step.number % 3 + 1, step.number / 4 % 3, executor, transformation(step))
        case .mapTasks: result = universe.mapTasks(step.number % 4, step.number / 4 % 2 + 1, transformation(step))
        case .allFilled: result = universe.allFilled(items(step))
        case .firstFilled: result = universe.firstFilled(items(step))
        case .allSucceeded: result = universe.allSucceeded(items(step))
        case .firstSucceeded: result = universe.firstSucceeded(items(step))
        case .firstCompleted: result = universe.firstCompleted(items(step))
        case .run: manual.run()
        case .runAll:
            manual.runAll()
            progressQueue.runAll()
        case .removeAll: manual.removeAll()
        case .advance: universe.advance(step.number)
        case .drop: if let id = step.operands.first { self[id] = nil }
        case .observe:
            if let first, let value = universe.wait(first) { log(.observed, step.id, code(value)) }
            if let id = step.operands.first { observe(id) }
        default: if let first { result = perform(step, first, executor) }
        }
        if let result { self[step.id] = result }
    }

    /// Performs a step that needs an operand.
    private func perform(_ step: Step, _ item: U.Item, _ executor: any Executor) -> U.Item? {
        let second = step.operands.count > 1 ? self[step.operands[1]] : nil
        switch step.operation {
        case .task:
            return universe.task(
                item,
                second,
                failsOnCancel: step.failsOnCancel,
                step.number % 2 == 0 ? notice(step) : nil
            )
        case .taskOfValue: return universe.taskOfValue(item)
        case .fill:
            guard let hasWon = universe.fill(item, value(step.number)) else { return nil }
            log(.filled, step.id, hasWon ? 1 : 0)
            if isThreaded, hasWon { records.filled(item, code(value(step.number))) }
            return nil
        case .upon:
            guard isThreaded else { return universe.upon(item, executor, handler(step)) }
            let (handler, record) = (
                handler(step), records.handler(of: item, mayBeDropped: step.executor != .immediate)
            )
            let registration = universe.upon(item, executor) { value in
                record.called(code(value))
                handler(value)
            }
            record.registration = registration
            return registration
        case .uponSuccess: return universe.uponSuccess(item, executor, handler(step))
        case .uponFailure: return universe.uponFailure(item, executor, handler(step))
        case .uponCancel: return universe.uponCancel(item, notice(step))
        case .uponProgress:
            let capture = capture(step)
            let slot = step.operands[0]
            return universe.uponProgress(item, step.executor == .immediate ? executor : progressQueue) {
                [weak self] fraction in
                capture.touch()
                self?.check(fraction, slot)
            }
        case .map: return universe.map(item, core: step.isCore, executor, transformation(step))
        case .flatMap: return universe.flatMap(item, core: step.isCore, executor, transformation(step))
        case .ignored: return universe.ignored(item, core: step.isCore)
        case .recover: return universe.recover(item, executor, transformation(step))
        case .mapError: return universe.mapError(item, executor, transformation(step))
        case .always: return universe.always(item, executor, handler(step))
        case .fallback: return universe.fallback(item, executor, transformation(step))
        case .delay: return universe.delay(item, core: step.isCore, step.number % 4)
        case .timeout: return universe.timeout(item, step.number % 4)
        case .shared: return universe.shared(item)
        case .cancelledBy: return second.flatMap { universe.cancelledBy(item, $0) }
        case .zip: return second.flatMap { universe.zip(item, $0) }
        case .zipTasks: return second.flatMap { universe.zipTasks(item, $0) }
        case .register: return universe.register(item, notice(step))
        case .request: return universe.request(item)
        case .start:
            if let second { _ = universe.start(item, second, executor, handler(step)) }
            return nil
        case .startAfter:
            _ = universe.startAfter(item, step.number % 4, executor, transformation(step), handler(step))
            return nil
        case .cancelAfter: universe.cancelAfter(item, step.number % 4)
        case .takeBack, .cancel: _ = universe.cancel(item)
        case .report: universe.report(item, step.number)
        case .poll: if let fraction = universe.fraction(item) { check(fraction, step.operands[0]) }
        case .hold: return universe.hold(item)
        default: preconditionFailure("\(step.operation) needs no operand")
        }
        return nil
    }

    private func check(_ fraction: Double, _ slot: Int) {
        guard !isThreaded else { return }
        let hasSucceeded =
            self[slot].flatMap { universe.peek($0) }.map { if case .success = $0 { true } else { false } } ?? false
        // A held progress counts in billionths.
        let isRight = fraction >= fractions[slot] - 2e-9 && fraction <= 1 && (!hasSucceeded || fraction == 1)
        if !isRight, U.self == LibraryUniverse.self { log(.wrongFraction, slot, Int(fraction * 1e6)) }
        fractions[slot] = max(fractions[slot], fraction)
    }
}
