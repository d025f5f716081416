/// A program: a list of steps over the library's operations, some of which have closures that perform further steps.
struct Program: Sendable {
    var seed: UInt64
    var steps: [Step]
    /// The steps that the executor of the kind `stepping` performs inside `submit`.
    var executorSteps: [Step]
    /// The number of steps, those in closures included; each has an identifier below this number.
    var count: Int
    /// True if producers that are left at the end are filled before they are dropped.
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
    /// The steps that the closure of the operation performs.
    var steps: [Step] = []
    /// The result of the closure.
    var outcome = Outcome.number(0)
    /// True if the closure of `Task.init` captures the producer strongly, and fails it on cancellation.
    var failsOnCancel = false
    /// True to use the operator of `FutureProtocol` even if the operand is a task.
    var isCore = false
}

enum Outcome: Sendable, Equatable {
    /// A success computed from the input.
    case number(Int)
    case failure(Int)
    /// The item in a slot; closures that don't return a task convert it to a number.
    case slot(Int)
}

enum Operation: String, Sendable, CaseIterable {
    // Creating and filling.
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
