import DeferredCore

func oursBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    switch operation {
    case .createDrop:
        return Body { blackHole(Deferred<Int>()) }
    case .createFillPeek:
        return Body {
            let deferred = Deferred<Int>()
            deferred.fill(with: 1)
            blackHole(deferred.peek())
        }
    case .createUponFill:
        return Body {
            let deferred = Deferred<Int>()
            deferred.upon(.immediate) { sink.add($0) }
            deferred.fill(with: 1)
        }
    case .mapChain:
        return Body {
            let deferred = Deferred<Int>()
            let result = deferred.map(increment).map(increment).map(increment).map(increment)
                .map(increment).map(increment).map(increment).map(increment)
            deferred.fill(with: 1)
            blackHole(result)
        }
    case .mapChainFilled:
        return Body {
            let deferred = Deferred(filledWith: 1)
            let result = deferred.map(increment).map(increment).map(increment).map(increment)
                .map(increment).map(increment).map(increment).map(increment)
            blackHole(result)
        }
    case .flatMapLoopFilled:
        @Sendable func count(_ turns: Int) -> Future<Int> {
            Future(value: turns).flatMap { $0 == 0 ? Future(value: -1) : count($0 &- 1) }
        }
        return Body { blackHole(count(10_000)) }
    case .flatMapLoopPending:
        let source = Holder<Deferred<Int>>()
        @Sendable func count() -> Future<Int> {
            let deferred = Deferred<Int>()
            source.content = deferred
            return deferred.future.flatMap { $0 == 0 ? Future(value: -1) : count() }
        }
        return Body {
            let result = count()
            for turn in (0...10_000).reversed() { source.content?.fill(with: turn) }
            blackHole(result)
        }
    case .hundredHandlers:
        return Body {
            let deferred = Deferred<Int>()
            for _ in 0..<100 { deferred.upon(.immediate) { sink.add($0) } }
            deferred.fill(with: 1)
        }
    case .registerCancel:
        let deferred = Deferred<Int>()
        return Body { deferred.upon(.immediate) { sink.add($0) }.cancel() }
    case .awaitFilled:
        let (deferred, executor) = (Deferred(filledWith: 1), DrivenExecutor())
        return Body { count in
            {
                executor.start {
                    for _ in 0..<count { sink.add(await deferred.value) }
                }
            }
        }
    case .awaitUnfilled:
        let executor = DrivenExecutor()
        return Body { count in
            let futures = (0..<count).map { _ in Deferred<Int>() }
            return {
                executor.start {
                    for future in futures { sink.add(await future.value) }
                }
                for future in futures {
                    future.fill(with: 1)
                    executor.run()
                }
            }
        }
    case .contended:
        return Body { count in
            let futures = (0..<count).map { _ in Deferred<Int>() }
            return {
                onTwoThreads {
                    for future in futures { future.fill(with: 1) }
                } and: {
                    for future in futures { future.upon(.immediate) { sink.add($0) } }
                }
            }
        }
    case .zip:
        return Body {
            let inputs = (0..<8).map { _ in Deferred<Int>() }
            let result = zip(
                inputs[0],
                inputs[1],
                inputs[2],
                inputs[3],
                inputs[4],
                inputs[5],
                inputs[6],
                inputs[7]
            )
            for input in inputs { input.fill(with: 1) }
            blackHole(result)
        }
    case .allFilled:
        return Body {
            let inputs = (0..<1_000).map { _ in Deferred<Int>() }
            let result = inputs.allFilled()
            for input in inputs { input.fill(with: 1) }
            blackHole(result)
        }
    case .firstFilled:
        return Body {
            let inputs = (0..<1_000).map { _ in Deferred<Int>() }
            let result = inputs.firstFilled()
            for input in inputs { input.fill(with: 1) }
            blackHole(result)
        }
    default:
        return oursTaskBody(operation)
    }
}
