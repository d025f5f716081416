// Chains of twelve operators as users write them: each function is one expression, whose closures are all inferred.
//
// Not part of a target: `Tests/TypeChecking/run` measures the time that the compiler takes for each of them, and for the
// same chains on executors, which it makes of these.

import DeferredCore
import DeferredTask
import Dispatch

enum Failure: Error { case some }

let queue = DispatchQueue(label: "chains")
let executor = UsersExecutor()

struct UsersExecutor: DeferredCore.Executor {
    func submit(_ body: @escaping @Sendable () -> Void) { body() }
}

func tasks(_ input: Task<Int>) -> Task<String> {
    input
        .map { $0 + 1 }
        .map { $0 * 2 }
        .flatMap { .success($0 - 3) }
        .recover { _ in 4 }
        .map { "\($0)" }
        .fallback { _ in .success("7") }
        .map { $0.count }
        .mapError { _ in Failure.some }
        .map { [$0] }
        .flatMap { Task.success("\($0)") }
        .always { _ in }
        .map { $0.uppercased() }
}

func futures(_ input: Future<Int>) -> Future<String> {
    input
        .map { $0 + 1 }
        .map { $0 * 2 }
        .flatMap { Future(value: $0 - 3) }
        .map { "\($0)" }
        .map { $0.count }
        .flatMap { Future(value: [$0]) }
        .map { $0.count - 1 }
        .map { $0 + 1 }
        .flatMap { Future(value: "\($0)!") }
        .map { $0.count }
        .map { "\($0)" }
        .map { $0.uppercased() }
}

func flatMaps(_ input: Task<Int>) -> Task<Int> {
    input
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
}

func maps(_ input: Task<Int>) -> Task<String> {
    input
        .map { $0 + 1 }
        .map { "\($0)" }
        .map { $0.count }
        .map { $0 + 1 }
        .map { "\($0)" }
        .map { $0.count }
        .map { $0 + 1 }
        .map { "\($0)" }
        .map { $0.count }
        .map { $0 * 2 }
        .map { [$0] }
        .map { "\($0)" }
}

func intoAFuture(_ input: Task<Int>, _ next: Deferred<String>) -> Task<String> {
    input
        .map { $0 + 1 }
        .map { $0 * 2 }
        .flatMap { .success($0 - 3) }
        .recover { _ in 4 }
        .map { "\($0)" }
        .flatMap { _ in next }
        .map { $0.count }
        .mapError { _ in Failure.some }
        .map { [$0] }
        .flatMap { Task.success("\($0)") }
        .always { _ in }
        .map { $0.uppercased() }
}

func zipped(_ one: Task<Int>, _ other: Task<String>) -> Task<String> {
    zip(one.map { $0 + 1 }, other.map { $0.count }, .success("c"))
        .map { "\($0) \($1) \($2)" }
        .recover { _ in "" }
        .always { _ in }
        .map { $0.uppercased() }
}
