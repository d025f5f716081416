// Uses of Swift's `Task` that do not compile with `import Deferred`, one function each. The script `run` checks that each of
// them, and nothing else in this file, is an error then, and that all of them compile without.

// MARK: two generic arguments
func twoArguments() -> Task<Int, Never> { Task { 1 } }

// MARK: `Task<Never, Never>.sleep(for:)`
func sleepOfNever() async throws { try await Task<Never, Never>.sleep(for: .zero) }

// MARK: `value` without `try`
func valueWithoutTry() async -> Int { await Task { 1 }.value }

// MARK: a `switch` over `result` without `failure`
func switchWithoutFailure() async -> Int {
    switch await Task { 1 }.result {
    case .success(let value): value
    }
}
