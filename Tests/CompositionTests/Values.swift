import DeferredCore
import DeferredTask
import DeferredTesting
import Synchronization

/// The single type of values in programs, so that everything composes with everything.
typealias Value = Result<Payload, any Error>

/// A value whose instances are counted.
final class Payload: Sendable {
    let number: Int
    private let counts: Counts

    init(_ number: Int, _ counts: Counts) {
        self.number = number
        self.counts = counts
        counts.payloads.add(1, ordering: .relaxed)
    }

    deinit { counts.payloads.subtract(1, ordering: .relaxed) }
}

struct TestError: Error {
    let number: Int
}

/// Stands in for errors that only the library can create.
enum ModelError: Error {
    case brokenPromise, allFailed
}

/// An object that a closure captures, which reports its release.
final class Capture: Sendable {
    private let id: Int
    private let counts: Counts

    init(_ id: Int, _ counts: Counts) {
        self.id = id
        self.counts = counts
        counts.began(id)
    }

    deinit { counts.ended(id) }

    func touch() {}
}

/// The numbers of captures and values of one run that are alive.
///
/// SAFETY: `alive` is used by runs on one thread only.
final class Counts: @unchecked Sendable {
    let payloads = Atomic(0)
    let captures = Atomic(0)
    private let isThreaded: Bool
    private var perStep: [Int16]
    /// One bit for each step with a capture that is alive.
    private(set) var alive: [UInt64]

    init(steps: Int, isThreaded: Bool) {
        self.isThreaded = isThreaded
        perStep = [Int16](repeating: 0, count: isThreaded ? 0 : steps)
        alive = [UInt64](repeating: 0, count: isThreaded ? 0 : steps / 64 + 1)
    }

    func began(_ id: Int) {
        captures.add(1, ordering: .relaxed)
        guard !isThreaded else { return }
        perStep[id] += 1
        alive[id >> 6] |= 1 << UInt64(id & 63)
    }

    func ended(_ id: Int) {
        captures.subtract(1, ordering: .relaxed)
        guard !isThreaded else { return }
        perStep[id] -= 1
        if perStep[id] <= 0 { alive[id >> 6] &= ~(1 << UInt64(id & 63)) }
    }
}

/// Encodes a result as a number, by which traces are compared.
func code(_ value: Value?) -> Int {
    switch value {
    case nil: -100
    case .success(let payload): payload.number * 2
    case .failure(let error): code(error)
    }
}

private func code(_ error: any Error) -> Int {
    switch error {
    case let error as TestError: error.number * 2 + 1
    case is CancellationError: -1
    case is BrokenPromise, ModelError.brokenPromise: -2
    case is TimeoutError: -3
    case is AllTasksFailed, ModelError.allFailed: -4
    default: -9
    }
}

/// An executor of one of the kinds in `ExecutorKind`.
final class ProgramExecutor: Executor {
    private let kind: ExecutorKind
    private let perform: @Sendable () -> Void

    init(_ kind: ExecutorKind, perform: @escaping @Sendable () -> Void) {
        self.kind = kind
        self.perform = perform
    }

    func submit(_ body: @escaping @Sendable () -> Void) {
        switch kind {
        case .dropping: break
        case .twice:
            body()
            body()
        case .stepping:
            perform()
            body()
        case .immediate, .inline, .manual: body()
        }
    }
}
