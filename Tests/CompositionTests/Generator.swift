import TestSupport

/// Generates programs with few futures, much reuse, and many cancelled handlers, so that compositions interact.
struct Generator {
    private var random: SeededGenerator
    private let seed: UInt64
    private var nextID = 0
    /// The slots of each kind that steps so far have filled, in order.
    private var futures: [Int] = []
    private var producers: [Int] = []
    private var tasks: [Int] = []
    private var registrations: [Int] = []
    private var sources: [Int] = []
    private var others: [Operation: [Int]] = [:]
    /// True if closures seldom perform steps, run immediately, and mostly return futures that are filled by hand.
    private var isPlain = false
    private var weights: [(operation: Operation, weight: Int)] = []
    private var totalWeight = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    private static let weights: [(operation: Operation, weight: Int)] = [
        (.deferred, 5), (.promise, 4), (.filled, 1), (.task, 8), (.taskOfValue, 1), (.never, 1), (.success, 1),
        (.failure, 1), (.async, 1), (.fill, 16),
        (.upon, 12), (.uponSuccess, 2), (.uponFailure, 2), (.uponCancel, 5), (.uponProgress, 2), (.takeBack, 12),
        (.map, 7), (.flatMap, 12), (.ignored, 1), (.recover, 3), (.mapError, 2), (.always, 5), (.fallback, 4),
        (.delay, 3), (.timeout, 3),
        (.retry, 3),
        (.shared, 5), (.cancelledBy, 3),
        (.zip, 4), (.zipTasks, 4), (.allFilled, 2), (.firstFilled, 4), (.allSucceeded, 2), (.firstSucceeded, 2),
        (.firstCompleted, 3),
        (.mapTasks, 2),
        (.cancel, 8), (.source, 3), (.linkedSource, 2), (.register, 3), (.cancelAfter, 1), (.request, 1),
        (.latest, 2), (.start, 5), (.startAfter, 3),
        (.reporter, 2), (.report, 3), (.poll, 3), (.hold, 2),
        (.drop, 8), (.observe, 2), (.run, 3), (.runAll, 1), (.removeAll, 1), (.advance, 4),
    ]

    /// The operations to choose from: a subset makes those in it meet more often.
    private enum Theme {
        case everything, half
        case some([Operation: Int])
    }

    private static let adoption: [Operation: Int] = [
        .flatMap: 10, .upon: 10, .takeBack: 8, .fill: 6, .deferred: 1, .map: 1, .firstFilled: 1, .drop: 1, .zip: 1,
        .fallback: 1, .task: 2, .cancel: 1, .uponCancel: 1,
    ]
    private static let progress: [Operation: Int] = [
        .task: 8, .reporter: 4, .report: 10, .poll: 14, .hold: 5, .uponProgress: 3, .flatMap: 6, .fallback: 3, .map: 2,
        .fill: 6, .promise: 3, .firstCompleted: 2, .allSucceeded: 2, .zipTasks: 2, .always: 2, .mapTasks: 2, .shared: 1,
        .drop: 2, .cancel: 1,
        .takeBack: 1,
    ]
    private static let latest: [Operation: Int] = [
        .latest: 2, .start: 10, .startAfter: 5, .advance: 3, .task: 6, .promise: 3, .fill: 6, .success: 1, .map: 2,
        .cancel: 3, .run: 3,
        .uponCancel: 2,
        .drop: 1, .upon: 1,
    ]
    private static let sharing: [Operation: Int] = [
        .shared: 10, .task: 4, .promise: 2, .cancel: 8, .drop: 9, .upon: 4, .takeBack: 2, .map: 3, .flatMap: 2,
        .fill: 2,
        .uponCancel: 5, .timeout: 1, .recover: 1, .firstCompleted: 1, .zipTasks: 1, .always: 2,
    ]

    private mutating func drawTheme() -> Theme {
        switch number(0...19) {
        case 0...6: .everything
        case 7...10: .half
        case 11...13: .some(Self.adoption)
        case 14...15: .some(Self.progress)
        case 16...17: .some(Self.latest)
        default: .some(Self.sharing)
        }
    }

    mutating func program() -> Program {
        let hasShared = chance(2)
        let theme = drawTheme()
        for (operation, weight) in Self.weights where operation != .shared || hasShared {
            switch theme {
            case .everything: weights.append((operation, weight))
            case .half: if weight >= 8 || chance(2) { weights.append((operation, weight)) }
            case .some(let operations):
                isPlain = operations[.flatMap] == 10
                if let weight = operations[operation] { weights.append((operation, weight)) }
            }
        }
        totalWeight = weights.reduce(0) { $0 + $1.weight }
        let length = number(5...(chance(3) ? 60 : 25))
        var steps = [step(.deferred, depth: 0), step(chance(2) ? .promise : .deferred, depth: 0)]
        while steps.count < length { steps.append(step(depth: 0)) }
        let executorSteps = (0..<number(1...2)).map { _ in step(depth: 2) }
        return Program(
            seed: seed,
            steps: steps,
            executorSteps: executorSteps,
            count: nextID + 4,
            fillsAtEnd: chance(2)
        )
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(random.next() % UInt64(range.count))
    }

    /// Returns true once in `count` times, on average.
    private mutating func chance(_ count: Int) -> Bool { random.next() % UInt64(count) == 0 }

    /// Picks one of the slots, preferring the first and the last few; without slots, any step's, even a later one's.
    private mutating func pick(_ slots: [Int]) -> Int {
        guard !slots.isEmpty else { return number(0...(nextID + 3)) }
        return switch number(0...7) {
        case 0...2: slots[slots.count - 1 - number(0...min(2, slots.count - 1))]
        case 3...5: slots[number(0...min(3, slots.count - 1))]
        default: slots[number(0...(slots.count - 1))]
        }
    }

    private mutating func operation() -> Operation {
        var rest = number(0...(totalWeight - 1))
        for (operation, weight) in weights {
            rest -= weight
            if rest < 0 { return operation }
        }
        return .observe
    }

    private mutating func step(_ given: Operation? = nil, depth: Int) -> Step {
        var operation = given ?? operation()
        if operation == .takeBack, registrations.isEmpty { operation = .upon }
        // Time passes only at the top level.
        if depth > 0, operation == .advance { operation = .fill }
        var step = Step(id: nextID, operation: operation)
        nextID += 1
        step.number = number(0...60)
        step.isCore = chance(3)
        step.executor = executor(for: step)
        choose(&step)
        // A future waits for earlier ones only: one that waits for itself is never freed.
        if isFuture(operation) { step.operands.removeAll { $0 >= step.id } }
        if hasClosure(operation), depth < 3, !isPlain || chance(3) {
            var count = 0
            while count < 3, chance(depth + 2) {
                step.steps.append(self.step(depth: depth + 1))
                count += 1
            }
        }
        switch number(0...9) {
        case 0: step.outcome = .failure(step.number)
        case 1...3: step.outcome = .number(step.number)
        default:
            let slots = chance(3) || isPlain ? producers : chance(2) ? tasks : futures
            if let slot = slots.isEmpty ? nil : pick(slots), slot < step.id { step.outcome = .slot(slot) }
        }
        note(step)
        return step
    }

    private mutating func executor(for step: Step) -> ExecutorKind {
        // The model doesn't predict when progress is delivered, so the action of its executor must not matter.
        if step.operation == .uponProgress { return chance(2) ? .immediate : .manual }
        if isPlain, !chance(8) { return .immediate }
        switch number(0...19) {
        case 0...11: return .immediate
        case 12...15: return .manual
        case 16: return .inline
        case 17: return .dropping
        case 18:
            // The kind `twice` breaks its contract, which would show in closures that may be called several times
            // anyway.
            if step.operation == .retry || step.operation == .async { return .inline }
            return .twice
        default: return .stepping
        }
    }

    /// Returns true if the step certainly uses an operator of `Task`.
    private func isOfTask(_ step: Step) -> Bool { !step.isCore && step.operands.allSatisfy(tasks.contains) }

    private func isFuture(_ operation: Operation) -> Bool {
        switch operation {
        case .task, .taskOfValue, .map, .flatMap, .ignored, .recover, .mapError, .always, .fallback, .delay, .timeout,
            .shared,
            .cancelledBy,
            .zip, .zipTasks, .allFilled, .firstFilled, .allSucceeded, .firstSucceeded, .firstCompleted:
            true
        default: false
        }
    }

    private func hasClosure(_ operation: Operation) -> Bool {
        switch operation {
        case .task, .async, .upon, .uponSuccess, .uponFailure, .uponCancel, .map, .flatMap, .recover, .mapError,
            .always, .fallback, .retry, .mapTasks, .register, .start, .startAfter:
            true
        default: false
        }
    }

    private mutating func choose(_ step: inout Step) {
        switch step.operation {
        case .task:
            step.operands = [pick(chance(5) ? futures : producers)]
            step.failsOnCancel = chance(3)
            if chance(4), let reporters = others[.reporter] { step.operands.append(pick(reporters)) }
        case .fill: step.operands = [pick(producers)]
        case .upon, .flatMap, .map, .delay, .ignored:
            step.operands = [pick(isPlain && !chance(4) ? producers : chance(2) && !tasks.isEmpty ? tasks : futures)]
        case .taskOfValue: step.operands = [pick(futures)]
        case .uponSuccess, .uponFailure, .uponCancel, .uponProgress, .recover, .mapError, .always, .fallback, .timeout,
            .shared, .poll,
            .hold:
            step.operands = [pick(tasks)]
        case .takeBack: step.operands = [pick(registrations)]
        case .cancelledBy: step.operands = [pick(tasks), pick(sources)]
        case .zip: step.operands = [pick(futures), pick(futures)]
        case .zipTasks: step.operands = [pick(tasks), pick(tasks)]
        case .allFilled, .firstFilled: step.operands = (0..<number(1...3)).map { _ in pick(futures) }
        case .allSucceeded, .firstSucceeded, .firstCompleted:
            step.operands = (0..<number(1...3)).map { _ in pick(tasks) }
        case .cancel:
            switch number(0...5) {
            case 0: step.operands = [pick(sources)]
            case 1: step.operands = [pick(others[chance(2) ? .request : .latest] ?? tasks)]
            case 2: step.operands = [pick(others[.hold] ?? tasks)]
            default: step.operands = [pick(tasks)]
            }
        case .linkedSource: step.operands = [pick(sources), pick(sources)]
        case .register, .cancelAfter: step.operands = [pick(sources)]
        case .request: step.operands = [pick(chance(2) ? tasks : chance(2) ? registrations : sources)]
        case .start: step.operands = [pick(others[.latest] ?? []), pick(tasks)]
        case .startAfter: step.operands = [pick(others[.latest] ?? [])]
        case .report: step.operands = [pick(others[.reporter] ?? [])]
        case .drop: step.operands = [chance(3) ? pick(producers) : chance(2) ? pick(tasks) : number(0...nextID)]
        case .observe: step.operands = [pick(futures)]
        case .advance: step.number = step.number % 4 + 1
        default: break
        }
    }

    private mutating func note(_ step: Step) {
        switch step.operation {
        case .deferred, .promise:
            producers.append(step.id)
            futures.append(step.id)
        case .filled, .zip, .allFilled, .firstFilled, .async: futures.append(step.id)
        case .task, .taskOfValue, .never, .success, .failure, .recover, .mapError, .always, .fallback, .timeout,
            .retry, .shared, .cancelledBy, .zipTasks, .allSucceeded, .firstSucceeded, .firstCompleted, .mapTasks:
            tasks.append(step.id)
            futures.append(step.id)
        case .map, .flatMap, .delay, .ignored:
            futures.append(step.id)
            if isOfTask(step) { tasks.append(step.id) }
        case .upon, .uponSuccess, .uponFailure, .uponCancel, .uponProgress, .register: registrations.append(step.id)
        case .source, .linkedSource: sources.append(step.id)
        case .latest, .reporter, .hold, .request: others[step.operation, default: []].append(step.id)
        default: break
        }
    }
}
