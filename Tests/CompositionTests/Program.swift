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
    case map, flatMap, ignored, recover, mapError, always, fallback, delay, timeout, retry, shared, cancelledBy
    case zip, zipTasks, allFilled, firstFilled, allSucceeded, firstSucceeded, firstCompleted, mapTasks
    // Cancelling.
    case cancel, source, linkedSource, register, cancelAfter, request
    case latest, start, startAfter
    // Progress.
    case reporter, report, poll, hold
    // Everything else.
    case drop, observe, run, runAll, removeAll, advance
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
