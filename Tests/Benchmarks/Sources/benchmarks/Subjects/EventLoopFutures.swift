import NIOCore
import NIOEmbedded

func eventLoopFutureBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    let loop = EmbeddedEventLoop()
    switch operation {
    case .createDrop:
        // A promise must be completed: an incomplete one must not be dropped.
        return Body { loop.makePromise(of: Int.self).succeed(1) }
    case .createFillPeek:
        // There is no `peek`; users query a completed future with a callback, which is called at once.
        return Body {
            let promise = loop.makePromise(of: Int.self)
            promise.succeed(1)
            promise.futureResult.whenSuccess { sink.add($0) }
        }
    case .createUponFill:
        return Body {
            let promise = loop.makePromise(of: Int.self)
            promise.futureResult.whenSuccess { sink.add($0) }
            promise.succeed(1)
        }
    case .mapChain:
        return Body {
            let promise = loop.makePromise(of: Int.self)
            let result = promise.futureResult.map(increment).map(increment).map(increment).map(increment)
                .map(increment).map(increment).map(increment).map(increment)
            promise.succeed(1)
            blackHole(result)
        }
    case .mapChainFilled:
        return Body {
            let result = loop.makeSucceededFuture(1).map(increment).map(increment).map(increment).map(increment)
                .map(increment).map(increment).map(increment).map(increment)
            blackHole(result)
        }
    case .flatMapLoopFilled:
        @Sendable func count(_ turns: Int) -> EventLoopFuture<Int> {
            loop.makeSucceededFuture(turns).flatMap { $0 == 0 ? loop.makeSucceededFuture(-1) : count($0 &- 1) }
        }
        return Body { blackHole(count(10_000)) }
    case .flatMapLoopPending:
        let source = Holder<EventLoopPromise<Int>>()
        @Sendable func count() -> EventLoopFuture<Int> {
            let promise = loop.makePromise(of: Int.self)
            source.content = promise
            return promise.futureResult.flatMap { $0 == 0 ? loop.makeSucceededFuture(-1) : count() }
        }
        return Body {
            let result = count()
            for turn in (0...10_000).reversed() { source.content?.succeed(turn) }
            blackHole(result)
        }
    case .zip:
        return Body {
            let promises = (0..<8).map { _ in loop.makePromise(of: Int.self) }
            var result = promises[0].futureResult.map { [$0] }
            for promise in promises.dropFirst() {
                result = result.and(promise.futureResult).map { $0 + [$1] }
            }
            for promise in promises { promise.succeed(1) }
            blackHole(result)
        }
    case .allFilled:
        return Body {
            let promises = (0..<1_000).map { _ in loop.makePromise(of: Int.self) }
            let result = EventLoopFuture.whenAllSucceed(promises.map(\.futureResult), on: loop)
            for promise in promises { promise.succeed(1) }
            blackHole(result)
        }
    case .firstFilled:
        // There is no such operator; the usual way is to cascade every future into one promise.
        return Body {
            let promises = (0..<1_000).map { _ in loop.makePromise(of: Int.self) }
            let first = loop.makePromise(of: Int.self)
            for promise in promises { promise.futureResult.cascade(to: first) }
            for promise in promises { promise.succeed(1) }
            blackHole(first.futureResult)
        }
    case .hundredHandlers:
        return Body {
            let promise = loop.makePromise(of: Int.self)
            for _ in 0..<100 { promise.futureResult.whenSuccess { sink.add($0) } }
            promise.succeed(1)
        }
    case .awaitFilled:
        let executor = DrivenExecutor()
        let future = loop.makeSucceededFuture(1)
        return Body { count in
            {
                executor.start {
                    for _ in 0..<count { sink.add((try? await future.get()) ?? 0) }
                }
            }
        }
    case .awaitUnfilled:
        let executor = DrivenExecutor()
        return Body { count in
            let promises = (0..<count).map { _ in loop.makePromise(of: Int.self) }
            return {
                executor.start {
                    for promise in promises { sink.add((try? await promise.futureResult.get()) ?? 0) }
                }
                for promise in promises {
                    promise.succeed(1)
                    executor.run()
                }
            }
        }
    default:
        // A callback cannot be cancelled; an embedded loop belongs to one thread.
        return nil
    }
}
