// Chains of twelve operators as users write them: each function is one expression, whose closures are all inferred.
//
// Not part of a target: `Tests/TypeChecking/run` measures the time that the compiler takes for each of them.

import DeferredCore
import DeferredTask
import Dispatch

enum Failure: Error { case some }

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

func intoAFuture(_ input: Task<Int>, _ next: Deferred<String>) -> Task<Int> {
    input
        .map { $0 + 1 }
        .flatMap { _ in next }
        .map { $0.count }
}

func zipped(_ one: Task<Int>, _ other: Task<String>) -> Task<String> {
    zip(one.map { $0 + 1 }, other.map { $0.count }, .success("c"))
        .map { "\($0) \($1) \($2)" }
        .recover { _ in "" }
        .always { _ in }
        .map { $0.uppercased() }
}

// MARK: - The same with executors

func tasksOnTheMainActor(_ input: Task<Int>) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { $0 * 2 }
        .flatMap(on: .mainActor) { .success($0 - 3) }
        .recover(on: .mainActor) { _ in 4 }
        .map(on: .mainActor) { "\($0)" }
        .fallback(on: .mainActor) { _ in .success("7") }
        .map(on: .mainActor) { $0.count }
        .mapError(on: .mainActor) { _ in Failure.some }
        .map(on: .mainActor) { [$0] }
        .flatMap(on: .mainActor) { Task.success("\($0)") }
        .always(on: .mainActor) { _ in }
        .map(on: .mainActor) { $0.uppercased() }
}

func futuresOnTheMainActor(_ input: Future<Int>) -> Future<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { $0 * 2 }
        .flatMap(on: .mainActor) { Future(value: $0 - 3) }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .mainActor) { $0.count }
        .flatMap(on: .mainActor) { Future(value: [$0]) }
        .map(on: .mainActor) { $0.count - 1 }
        .map(on: .mainActor) { $0 + 1 }
        .flatMap(on: .mainActor) { Future(value: "\($0)!") }
        .map(on: .mainActor) { $0.count }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .mainActor) { $0.uppercased() }
}

func flatMapsOnTheMainActor(_ input: Task<Int>) -> Task<Int> {
    input
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
}

func mapsOnTheMainActor(_ input: Task<Int>) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .mainActor) { $0.count }
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .mainActor) { $0.count }
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .mainActor) { $0.count }
        .map(on: .mainActor) { $0 * 2 }
        .map(on: .mainActor) { [$0] }
        .map(on: .mainActor) { "\($0)" }
}

func intoAFutureOnTheMainActor(_ input: Task<Int>, _ next: Deferred<String>) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .mainActor) { $0 * 2 }
        .flatMap(on: .mainActor) { .success($0 - 3) }
        .recover(on: .mainActor) { _ in 4 }
        .map(on: .mainActor) { "\($0)" }
        .flatMap(on: .mainActor) { _ in next }
        .map(on: .mainActor) { $0.count }
        .mapError(on: .mainActor) { _ in Failure.some }
        .map(on: .mainActor) { [$0] }
        .flatMap(on: .mainActor) { Task.success("\($0)") }
        .always(on: .mainActor) { _ in }
        .map(on: .mainActor) { $0.uppercased() }
}

func tasksOnTheMainQueue(_ input: Task<Int>) -> Task<String> {
    input
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap(on: .main) { .success($0 - 3) }
        .recover(on: .main) { _ in 4 }
        .map(on: .main) { "\($0)" }
        .fallback(on: .main) { _ in .success("7") }
        .map(on: .main) { $0.count }
        .mapError(on: .main) { _ in Failure.some }
        .map(on: .main) { [$0] }
        .flatMap(on: .main) { Task.success("\($0)") }
        .always(on: .main) { _ in }
        .map(on: .main) { $0.uppercased() }
}

func futuresOnTheMainQueue(_ input: Future<Int>) -> Future<String> {
    input
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap(on: .main) { Future(value: $0 - 3) }
        .map(on: .main) { "\($0)" }
        .map(on: .main) { $0.count }
        .flatMap(on: .main) { Future(value: [$0]) }
        .map(on: .main) { $0.count - 1 }
        .map(on: .main) { $0 + 1 }
        .flatMap(on: .main) { Future(value: "\($0)!") }
        .map(on: .main) { $0.count }
        .map(on: .main) { "\($0)" }
        .map(on: .main) { $0.uppercased() }
}

func flatMapsOnTheMainQueue(_ input: Task<Int>) -> Task<Int> {
    input
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
}

func mapsOnTheMainQueue(_ input: Task<Int>) -> Task<String> {
    input
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { "\($0)" }
        .map(on: .main) { $0.count }
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { "\($0)" }
        .map(on: .main) { $0.count }
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { "\($0)" }
        .map(on: .main) { $0.count }
        .map(on: .main) { $0 * 2 }
        .map(on: .main) { [$0] }
        .map(on: .main) { "\($0)" }
}

func intoAFutureOnTheMainQueue(_ input: Task<Int>, _ next: Deferred<String>) -> Task<String> {
    input
        .map(on: .main) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap(on: .main) { .success($0 - 3) }
        .recover(on: .main) { _ in 4 }
        .map(on: .main) { "\($0)" }
        .flatMap(on: .main) { _ in next }
        .map(on: .main) { $0.count }
        .mapError(on: .main) { _ in Failure.some }
        .map(on: .main) { [$0] }
        .flatMap(on: .main) { Task.success("\($0)") }
        .always(on: .main) { _ in }
        .map(on: .main) { $0.uppercased() }
}

func tasksOnAQueue(_ input: Task<Int>, _ queue: DispatchQueue) -> Task<String> {
    input
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { $0 * 2 }
        .flatMap(on: queue) { .success($0 - 3) }
        .recover(on: queue) { _ in 4 }
        .map(on: queue) { "\($0)" }
        .fallback(on: queue) { _ in .success("7") }
        .map(on: queue) { $0.count }
        .mapError(on: queue) { _ in Failure.some }
        .map(on: queue) { [$0] }
        .flatMap(on: queue) { Task.success("\($0)") }
        .always(on: queue) { _ in }
        .map(on: queue) { $0.uppercased() }
}

func futuresOnAQueue(_ input: Future<Int>, _ queue: DispatchQueue) -> Future<String> {
    input
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { $0 * 2 }
        .flatMap(on: queue) { Future(value: $0 - 3) }
        .map(on: queue) { "\($0)" }
        .map(on: queue) { $0.count }
        .flatMap(on: queue) { Future(value: [$0]) }
        .map(on: queue) { $0.count - 1 }
        .map(on: queue) { $0 + 1 }
        .flatMap(on: queue) { Future(value: "\($0)!") }
        .map(on: queue) { $0.count }
        .map(on: queue) { "\($0)" }
        .map(on: queue) { $0.uppercased() }
}

func flatMapsOnAQueue(_ input: Task<Int>, _ queue: DispatchQueue) -> Task<Int> {
    input
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
}

func mapsOnAQueue(_ input: Task<Int>, _ queue: DispatchQueue) -> Task<String> {
    input
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { "\($0)" }
        .map(on: queue) { $0.count }
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { "\($0)" }
        .map(on: queue) { $0.count }
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { "\($0)" }
        .map(on: queue) { $0.count }
        .map(on: queue) { $0 * 2 }
        .map(on: queue) { [$0] }
        .map(on: queue) { "\($0)" }
}

func intoAFutureOnAQueue(_ input: Task<Int>, _ queue: DispatchQueue, _ next: Deferred<String>) -> Task<String> {
    input
        .map(on: queue) { $0 + 1 }
        .map(on: queue) { $0 * 2 }
        .flatMap(on: queue) { .success($0 - 3) }
        .recover(on: queue) { _ in 4 }
        .map(on: queue) { "\($0)" }
        .flatMap(on: queue) { _ in next }
        .map(on: queue) { $0.count }
        .mapError(on: queue) { _ in Failure.some }
        .map(on: queue) { [$0] }
        .flatMap(on: queue) { Task.success("\($0)") }
        .always(on: queue) { _ in }
        .map(on: queue) { $0.uppercased() }
}

func tasksOnAnExecutor(_ input: Task<Int>, _ executor: some DeferredCore.Executor) -> Task<String> {
    input
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { $0 * 2 }
        .flatMap(on: executor) { .success($0 - 3) }
        .recover(on: executor) { _ in 4 }
        .map(on: executor) { "\($0)" }
        .fallback(on: executor) { _ in .success("7") }
        .map(on: executor) { $0.count }
        .mapError(on: executor) { _ in Failure.some }
        .map(on: executor) { [$0] }
        .flatMap(on: executor) { Task.success("\($0)") }
        .always(on: executor) { _ in }
        .map(on: executor) { $0.uppercased() }
}

func futuresOnAnExecutor(_ input: Future<Int>, _ executor: some DeferredCore.Executor) -> Future<String> {
    input
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { $0 * 2 }
        .flatMap(on: executor) { Future(value: $0 - 3) }
        .map(on: executor) { "\($0)" }
        .map(on: executor) { $0.count }
        .flatMap(on: executor) { Future(value: [$0]) }
        .map(on: executor) { $0.count - 1 }
        .map(on: executor) { $0 + 1 }
        .flatMap(on: executor) { Future(value: "\($0)!") }
        .map(on: executor) { $0.count }
        .map(on: executor) { "\($0)" }
        .map(on: executor) { $0.uppercased() }
}

func flatMapsOnAnExecutor(_ input: Task<Int>, _ executor: some DeferredCore.Executor) -> Task<Int> {
    input
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: executor) { Task.success($0 + 1) }
}

func mapsOnAnExecutor(_ input: Task<Int>, _ executor: some DeferredCore.Executor) -> Task<String> {
    input
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { "\($0)" }
        .map(on: executor) { $0.count }
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { "\($0)" }
        .map(on: executor) { $0.count }
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { "\($0)" }
        .map(on: executor) { $0.count }
        .map(on: executor) { $0 * 2 }
        .map(on: executor) { [$0] }
        .map(on: executor) { "\($0)" }
}

func intoAFutureOnAnExecutor(
    _ input: Task<Int>,
    _ executor: some DeferredCore.Executor,
    _ next: Deferred<String>
) -> Task<String> {
    input
        .map(on: executor) { $0 + 1 }
        .map(on: executor) { $0 * 2 }
        .flatMap(on: executor) { .success($0 - 3) }
        .recover(on: executor) { _ in 4 }
        .map(on: executor) { "\($0)" }
        .flatMap(on: executor) { _ in next }
        .map(on: executor) { $0.count }
        .mapError(on: executor) { _ in Failure.some }
        .map(on: executor) { [$0] }
        .flatMap(on: executor) { Task.success("\($0)") }
        .always(on: executor) { _ in }
        .map(on: executor) { $0.uppercased() }
}

func tasksOnVariousExecutors(
    _ input: Task<Int>,
    _ queue: DispatchQueue,
    _ executor: some DeferredCore.Executor
) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap { .success($0 - 3) }
        .recover(on: queue) { _ in 4 }
        .map(on: .mainActor) { "\($0)" }
        .fallback(on: .any()) { _ in .success("7") }
        .map(on: executor) { $0.count }
        .mapError(on: .mainActor) { _ in Failure.some }
        .map(on: .main) { [$0] }
        .flatMap { Task.success("\($0)") }
        .always(on: queue) { _ in }
        .map(on: .mainActor) { $0.uppercased() }
}

func futuresOnVariousExecutors(
    _ input: Future<Int>,
    _ queue: DispatchQueue,
    _ executor: some DeferredCore.Executor
) -> Future<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap { Future(value: $0 - 3) }
        .map(on: queue) { "\($0)" }
        .map(on: .mainActor) { $0.count }
        .flatMap(on: .any()) { Future(value: [$0]) }
        .map(on: executor) { $0.count - 1 }
        .map(on: .mainActor) { $0 + 1 }
        .flatMap(on: .main) { Future(value: "\($0)!") }
        .map { $0.count }
        .map(on: queue) { "\($0)" }
        .map(on: .mainActor) { $0.uppercased() }
}

func flatMapsOnVariousExecutors(
    _ input: Task<Int>,
    _ queue: DispatchQueue,
    _ executor: some DeferredCore.Executor
) -> Task<Int> {
    input
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .main) { Task.success($0 + 1) }
        .flatMap { .success($0 + 1) }
        .flatMap(on: queue) { Task.success($0 + 1) }
        .flatMap(on: .mainActor) { .success($0 + 1) }
        .flatMap(on: .any()) { Task.success($0 + 1) }
        .flatMap(on: executor) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
        .flatMap(on: .main) { .success($0 + 1) }
        .flatMap { Task.success($0 + 1) }
        .flatMap(on: queue) { .success($0 + 1) }
        .flatMap(on: .mainActor) { Task.success($0 + 1) }
}

func mapsOnVariousExecutors(
    _ input: Task<Int>,
    _ queue: DispatchQueue,
    _ executor: some DeferredCore.Executor
) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .main) { "\($0)" }
        .map { $0.count }
        .map(on: queue) { $0 + 1 }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .any()) { $0.count }
        .map(on: executor) { $0 + 1 }
        .map(on: .mainActor) { "\($0)" }
        .map(on: .main) { $0.count }
        .map { $0 * 2 }
        .map(on: queue) { [$0] }
        .map(on: .mainActor) { "\($0)" }
}

func intoAFutureOnVariousExecutors(
    _ input: Task<Int>,
    _ queue: DispatchQueue,
    _ executor: some DeferredCore.Executor,
    _ next: Deferred<String>
) -> Task<String> {
    input
        .map(on: .mainActor) { $0 + 1 }
        .map(on: .main) { $0 * 2 }
        .flatMap { .success($0 - 3) }
        .recover(on: queue) { _ in 4 }
        .map(on: .mainActor) { "\($0)" }
        .flatMap(on: .any()) { _ in next }
        .map(on: executor) { $0.count }
        .mapError(on: .mainActor) { _ in Failure.some }
        .map(on: .main) { [$0] }
        .flatMap { Task.success("\($0)") }
        .always(on: queue) { _ in }
        .map(on: .mainActor) { $0.uppercased() }
}
