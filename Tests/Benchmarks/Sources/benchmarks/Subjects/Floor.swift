/// Returns the minimum for each operation: as many allocations, of the same sizes, as many atomic operations and as
/// many calls through a pointer as it needs, and nothing else.
func floorBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    switch operation {
    case .createDrop:
        return Body { blackHole(FloorFuture.make()) }
    case .createFillPeek:
        return Body {
            let future = FloorFuture.make()
            if future.claim() { future.publish(1) }
            blackHole(future.peek())
        }
    case .createUponFill:
        return Body {
            let future = FloorFuture.make()
            future.push(FloorHandler { sink.add($0) })
            if future.claim() { future.publish(1) }
        }
    case .mapChain:
        return Body {
            let head = FloorFuture.make()
            var tail = head
            for _ in 0..<8 {
                let stage = FloorStage(increment)
                tail.push(stage)
                tail = stage
            }
            if head.claim() { head.publish(1) }
            blackHole(tail)
        }
    case .mapChainFilled:
        return Body {
            var future = FloorFuture.make()
            future.publish(1)
            for _ in 0..<8 {
                let next = FloorFuture.make()
                if let value = future.peek() { next.publish(indirect(value)) }
                future = next
            }
            blackHole(future)
        }
    case .flatMapLoopFilled:
        return Body {
            var turn = 10_000
            while turn > 0 {
                let future = FloorFuture.make()
                future.publish(turn)
                turn = future.peek().map(indirect(_:)) ?? 0
                turn &-= 2
            }
            sink.add(turn)
        }
    case .flatMapLoopPending:
        // A turn makes the future to wait for, and the stage that waits for it; when it has the value, the stage's handler
        // moves to the next one.
        return Body {
            var handler: FloorNode = FloorHandler { sink.add($0) }
            for turn in 0..<10_000 {
                let (future, stage) = (FloorFuture.make(), FloorForwarder(increment))
                stage.push(handler)
                future.push(stage)
                if future.claim() { future.publish(turn) }
                handler = stage.released.take()!
            }
        }
    case .hundredHandlers:
        return Body {
            let future = FloorFuture.make()
            for _ in 0..<100 { future.push(FloorHandler { sink.add($0) }) }
            if future.claim() { future.publish(1) }
        }
    case .registerCancel:
        return Body { count in
            let future = FloorFuture.make()
            return {
                for _ in 0..<count {
                    let handler = FloorHandler { sink.add($0) }
                    future.push(handler)
                    // Claims the handler, locks the future, then unlinks the handler and unlocks the future in one
                    // operation.
                    guard handler.take() else { continue }
                    let old = future.word.bitwiseOr(4, ordering: .acquiring).oldValue
                    _ = future.word.compareExchange(expected: old | 4, desired: 0, ordering: .acquiringAndReleasing)
                    handler.membership.store(2, ordering: .releasing)
                    Unmanaged<FloorNode>.passUnretained(handler).release()
                }
            }
        }
    case .awaitFilled:
        let (future, executor) = (FloorFuture.make(), DrivenExecutor())
        future.publish(1)
        return Body { count in
            {
                executor.start {
                    for _ in 0..<count { sink.add(future.peek() ?? 0) }
                }
            }
        }
    case .awaitUnfilled:
        let executor = DrivenExecutor()
        return Body { count in
            let source = Holder<UnsafeContinuation<Int, Never>>()
            return {
                executor.start {
                    for _ in 0..<count { sink.add(await withUnsafeContinuation { source.content = $0 }) }
                }
                for _ in 0..<count {
                    source.content?.resume(returning: 1)
                    executor.run()
                }
            }
        }
    case .taskValue, .taskGet:
        return Body { count in
            {
                DrivenActor.run {
                    for _ in 0..<count {
                        let result = FloorResult()
                        let task = Task { result.fill(1) }
                        sink.add(operation == .taskValue ? await result.value(of: task) : await result.get(from: task))
                    }
                }
            }
        }
    case .zip:
        return Body { blackHole(joined(8, sink)) }
    case .allFilled:
        return Body { blackHole(joined(1_000, sink)) }
    default:
        return nil
    }
}

/// Calls a closure that is opaque to the optimiser.
@inline(never)
@_optimize(none)
private func indirect(_ value: Int) -> Int { value &+ 1 }

/// Makes `count` futures with a handler on each; the last to be filled fills the result.
@inline(__always)
private func joined(_ count: Int, _ sink: Sink) -> FloorFuture {
    let result = FloorFuture.make()
    var values = [Int](repeating: 0, count: count)
    let inputs = (0..<count).map { _ in FloorFuture.make() }
    for input in inputs {
        input.push(
            FloorHandler { value in
                sink.add(value)
                if result.membership.add(1, ordering: .acquiringAndReleasing).newValue == count {
                    result.publish(value)
                }
            }
        )
    }
    for (index, input) in inputs.enumerated() where input.claim() {
        values[index] = 1
        input.publish(1)
    }
    blackHole(values)
    return result
}
