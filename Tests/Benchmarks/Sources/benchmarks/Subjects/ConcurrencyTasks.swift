/// Returns the closest equivalent of each operation with Swift's own tasks and continuations.
func concurrencyBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    let executor = DrivenExecutor()
    switch operation {
    case .createDrop:
        return Body { executor.start {} }
    case .createFillPeek:
        return Body { blackHole(executor.start { 1 }) }
    case .createUponFill:
        let source = Holder<CheckedContinuation<Int, Never>>()
        return Body {
            executor.start { sink.add(await withCheckedContinuation { source.content = $0 }) }
            source.content?.resume(returning: 1)
            executor.run()
        }
    case .mapChain, .mapChainFilled:
        let source = Holder<CheckedContinuation<Int, Never>>()
        return Body {
            var task = executor.start { await withCheckedContinuation { source.content = $0 } }
            if operation == .mapChainFilled { source.content?.resume(returning: 1) }
            for _ in 0..<8 {
                let input = task
                task = executor.start { await input.value &+ 1 }
            }
            if operation == .mapChain { source.content?.resume(returning: 1) }
            executor.run()
        }
    case .flatMapLoopFilled:
        @Sendable func count(_ turns: Int) async -> Int {
            var turn = turns
            while turn > 0 { turn = await Task(executorPreference: executor) { [turn] in turn &- 1 }.value }
            return -1
        }
        return Body { executor.start { sink.add(await count(10_000)) } }
    case .flatMapLoopPending:
        let source = Holder<CheckedContinuation<Int, Never>>()
        return Body {
            executor.start {
                while await withCheckedContinuation({ source.content = $0 }) != 0 {}
            }
            for turn in (0...10_000).reversed() {
                source.content?.resume(returning: turn)
                executor.run()
            }
        }
    case .zip:
        return Body {
            executor.start {
                async let (a, b, c, d) = (one(), one(), one(), one())
                async let (e, f, g, h) = (one(), one(), one(), one())
                sink.add(await a &+ b &+ c &+ d &+ e &+ f &+ g &+ h)
            }
        }
    case .allFilled, .firstFilled:
        return Body {
            executor.start {
                await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<1_000 { group.addTask { await one() } }
                    if operation == .firstFilled {
                        sink.add(await group.next() ?? 0)
                        group.cancelAll()
                    } else {
                        for await value in group { sink.add(value) }
                    }
                }
            }
        }
    case .hundredHandlers:
        let source = Holder<CheckedContinuation<Int, Never>>()
        return Body {
            let task = executor.start { await withCheckedContinuation { source.content = $0 } }
            for _ in 0..<100 { executor.start { sink.add(await task.value) } }
            source.content?.resume(returning: 1)
            executor.run()
        }
    case .awaitFilled:
        let task = executor.start { 1 }
        return Body { count in
            {
                executor.start {
                    for _ in 0..<count { sink.add(await task.value) }
                }
            }
        }
    case .awaitUnfilled:
        let source = Holder<CheckedContinuation<Int, Never>>()
        return Body { count in
            {
                executor.start {
                    for _ in 0..<count { sink.add(await withCheckedContinuation { source.content = $0 }) }
                }
                for _ in 0..<count {
                    source.content?.resume(returning: 1)
                    executor.run()
                }
            }
        }
    case .taskValue, .taskGet:
        // One actor for both sides, since the library's tasks can't choose an executor.
        return Body { count in
            {
                DrivenActor.run {
                    for _ in 0..<count { sink.add(await Task { 1 }.value) }
                }
            }
        }
    case .cancelWide:
        return Body { count in
            // Ends the tasks that were cancelled last time.
            executor.run()
            let tasks = (0..<count).map { _ in
                executor.start {
                    await withTaskGroup { group in
                        for _ in 0..<1_000 { group.addTask { await suspendedUntilCancelled() } }
                    }
                }
            }
            executor.run()
            return { for task in tasks { task.cancel() } }
        }
    default:
        return nil
    }
}

@inline(never)
private func one() async -> Int { 1 }

private func suspendedUntilCancelled() async {
    let waiting = Holder<UnsafeContinuation<Void, Never>>()
    await withTaskCancellationHandler {
        await withUnsafeContinuation { waiting.content = $0 }
    } onCancel: {
        waiting.content?.resume()
    }
}
