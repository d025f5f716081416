import DeferredCore
import DeferredTask

func oursTaskBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    switch operation {
    case .taskCreateFill:
        return Body {
            let promise = Task<Int>.Promise()
            let task = Task(promise)
            promise.succeed(with: 1)
            blackHole(task.peek())
        }
    case .taskMapChain:
        return Body {
            let deferred = Deferred<Task<Int>.Result>()
            let result = chain(Task(deferred))
            deferred.succeed(with: 1)
            blackHole(result)
        }
    case .taskMapChainRead:
        return Body {
            let deferred = Deferred<Task<Int>.Result>()
            let result = chain(Task(deferred))
            let progress = result.progress
            blackHole(progress.fractionCompleted)
            deferred.succeed(with: 1)
            blackHole(progress.fractionCompleted)
        }
    case .endsRead1500, .endsRead3000:
        let number = operation == .endsRead1500 ? 1_500 : 3_000
        return Body { count in
            let groups = (0..<count).map { _ in
                let promises = (0..<number).map { _ in Task<Int>.Promise() }
                return (promises, promises.map { Task($0) }.allSucceeded().progress)
            }
            return {
                for (promises, progress) in groups {
                    for promise in promises { promise.succeed(with: 1) }
                    blackHole(progress.fractionCompleted)
                }
            }
        }
    case .mapsRead:
        return Body { count in
            let chains = (0..<count).map { _ in
                let promise = Task<Int>.Promise()
                return (promise, (0..<4_000).reduce(Task(promise)) { task, _ in task.map(increment) }.progress)
            }
            return {
                for (promise, progress) in chains {
                    promise.succeed(with: 1)
                    blackHole(progress.fractionCompleted)
                }
            }
        }
    case .reportOf10, .reportOf10000:
        let reporter = ProgressReporter(unit: .bytes)
        let number = operation == .reportOf10 ? 10 : 10_000
        let promises = (0..<number).map { _ in Task<Int>.Promise() }
        let progress = promises.enumerated().map { index, promise in
            index == 0 ? Task(promise, reporter: reporter) { _ in } : Task(promise)
        }.allSucceeded().progress
        return Body {
            for step in 1...100 { reporter.report(completed: Int64(step), of: 100) }
            blackHole((progress.fractionCompleted, promises.count))
        }
    case .taskFlatMapLoop:
        let source = Holder<Deferred<Task<Int>.Result>>()
        @Sendable func count() -> Task<Int> {
            let deferred = Deferred<Task<Int>.Result>()
            source.content = deferred
            return Task(deferred).flatMap { $0 == 0 ? .success(-1) : count() }
        }
        return Body {
            let result = count()
            for turn in (0...10_000).reversed() { source.content?.succeed(with: turn) }
            blackHole(result)
        }
    case .taskValue:
        return Body { count in
            {
                DrivenActor.run {
                    for _ in 0..<count { sink.add((try? await Task { 1 }.value) ?? 0) }
                }
            }
        }
    case .taskGet:
        return Body { count in
            {
                DrivenActor.run {
                    for _ in 0..<count { sink.add((try? await Task { 1 }.get()) ?? 0) }
                }
            }
        }
    case .cancelWide:
        return Body { count in
            let rounds = (0..<count).map { _ in
                let source = CancellationTokenSource()
                let tasks = (0..<1_000).map { _ in
                    let deferred = Deferred<Task<Int>.Result>()
                    return Task(deferred) { deferred.fail(with: CancellationError()) }.cancelled(by: source.token)
                }
                return (source, tasks)
            }
            return {
                for (source, tasks) in rounds {
                    source.cancel()
                    blackHole(tasks)
                }
            }
        }
    case .tokenRegister:
        let source = CancellationTokenSource()
        return Body { source.token.register { sink.add(1) }.cancel() }
    case .tokenContended, .tokenSeparate:
        let (first, separate) = apart { CancellationTokenSource() }
        let second = operation == .tokenContended ? first : separate
        // One sink for each thread, since reference counting of a shared one is not to be measured.
        let (sink, other) = apart { Sink() }
        return Body { count in
            {
                onTwoThreads {
                    for _ in 0..<count { first.token.register { sink.add(1) }.cancel() }
                } and: {
                    for _ in 0..<count { second.token.register { other.add(1) }.cancel() }
                }
            }
        }
    default:
        return nil
    }
}

private func chain(_ task: Task<Int>) -> Task<Int> {
    task.map(increment).map(increment).map(increment).map(increment)
        .map(increment).map(increment).map(increment).map(increment)
}

/// Returns operations on plain futures, which show the additional cost of a task.
func futureBody(_ operation: Operation) -> Body? {
    switch operation {
    case .taskCreateFill: oursBody(.createFillPeek)
    case .taskMapChain, .taskMapChainRead: oursBody(.mapChain)
    case .taskFlatMapLoop: oursBody(.flatMapLoopPending)
    default: nil
    }
}
