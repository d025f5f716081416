/// A program: steps over the library's operations, some of which have closures that perform steps in turn.
struct Program: Sendable {
    var seed: UInt64
    var steps: [Step]
    /// Performed inside `submit` by the executor that does something else first.
    var executorSteps: [Step]
    /// How many steps there are, those in closures included; each has an identifier below.
    var count: Int
    /// Whether what is left at the end is filled before it is dropped.
    var fillsAtEnd: Bool
    var exclusions: Exclusions = []

    /// Whether handlers are compared that run while the last references are dropped.
    var comparesEnd: Bool {
        !exclusions.contains(.droppedConsumers) || !contains { $0.operation == .shared }
    }

    /// Whether it is checked what is freed when.
    var checksLifetimes: Bool {
        !contains { step in
            exclusions.contains(.unfilledCombinations) && step.operation.isCombination
                || exclusions.contains(.unfilledProgress) && step.operation == .uponProgress
        }
    }

    private func contains(_ condition: (Step) -> Bool) -> Bool {
        func contains(_ steps: [Step]) -> Bool { steps.contains { condition($0) || contains($0.steps) } }
        return contains(steps) || contains(executorSteps)
    }
}

/// One operation. Its result goes into the slot of its identifier; operands are the slots of other steps.
///
/// A step whose operands are missing does nothing, so that any subset of a program is a program.
struct Step: Sendable {
    var id: Int
    var operation: Operation
    var operands: [Int] = []
    var executor = ExecutorKind.immediate
    var number = 0
    /// Performed by the closure of the operation.
    var steps: [Step] = []
    /// What the closure comes to.
    var outcome = Outcome.number(0)
    /// Whether the closure of `Task.init` captures the producer strongly, and fails it.
    var failsOnCancel = false
    /// Whether an operator of `FutureProtocol` is used even if the operand is a task.
    var isCore = false
}

enum Outcome: Sendable, Equatable {
    /// A success computed of the input.
    case number(Int)
    case failure(Int)
    /// What is in a slot; what closures that return no task make of that is a number.
    case slot(Int)
}

enum Operation: String, Sendable, CaseIterable {
    // What is filled.
    case deferred, promise, filled, task, taskOfValue, never, success, failure, async
    case fill
    // Handlers.
    case upon, uponSuccess, uponFailure, uponCancel, uponProgress, takeBack
    // Operators.
    case map, flatMap, ignored, recover, fallback, delay, timeout, retry, shared, cancelledBy
    case zip, allFilled, firstFilled, allSucceeded, firstSucceeded, firstCompleted, mapTasks
    // Cancelling.
    case cancel, source, linkedSource, register, cancelAfter, request
    case latest, start
    // Progress.
    case reporter, report, poll, hold
    // Everything else.
    case drop, observe, run, runAll, removeAll, advance

    /// Whether it makes a task that others decide.
    var isCombination: Bool {
        switch self {
        case .delay, .timeout, .retry, .allSucceeded, .firstSucceeded, .firstCompleted, .mapTasks: true
        default: false
        }
    }
}

enum ExecutorKind: Int, Sendable, CaseIterable {
    case immediate, manual
    /// Runs the body inside `submit`.
    case inline
    /// Never runs the body.
    case dropping
    /// Runs the body twice.
    case twice
    /// Performs steps before it runs the body.
    case stepping
}

/// What programs leave out, since the library does not hold it yet. Each names a construct that a failing program was
/// shrunk to.
struct Exclusions: OptionSet, Sendable {
    let rawValue: Int

    /// Taking handlers back beside an inner future that several `flatMap`s return.
    static let adoptedTakeBacks = Exclusions(rawValue: 1 << 0)
    /// Core `flatMap`s whose inner future may go unfilled.
    static let unfilledInner = Exclusions(rawValue: 1 << 1)
    /// Looking at progress.
    static let progress = Exclusions(rawValue: 1 << 2)
    /// Executors that perform steps inside `submit` for `LatestTask`, and starting again in its closures.
    static let latestReentrancy = Exclusions(rawValue: 1 << 3)
    /// Dropping consumers of shared tasks.
    static let droppedConsumers = Exclusions(rawValue: 1 << 4)
    /// Combinations of tasks whose producer may be dropped unfilled.
    static let unfilledCombinations = Exclusions(rawValue: 1 << 5)
    /// Core operators on executors that run a body twice.
    static let coreTwice = Exclusions(rawValue: 1 << 6)
    /// Tasks whose cancellation handler refers to the promise.
    static let promiseInHandler = Exclusions(rawValue: 1 << 7)
    /// Progress handlers of tasks that may go unended.
    static let unfilledProgress = Exclusions(rawValue: 1 << 8)
    /// `uponCancel` in closures, which may come between the end of a cancelled task and the task's hearing of it.
    static let nestedUponCancel = Exclusions(rawValue: 1 << 9)

    /// All of them.
    static let known: Exclusions = [
        .adoptedTakeBacks, .unfilledInner, .progress, .latestReentrancy, .droppedConsumers, .unfilledCombinations,
        .coreTwice, .promiseInHandler, .unfilledProgress, .nestedUponCancel,
    ]
}
