import OpenCombine

func openCombineBody(_ operation: Operation) -> Body? {
    let sink = Sink()
    switch operation {
    case .createDrop:
        return Body { blackHole(Promised()) }
    case .createFillPeek:
        return Body {
            let promised = Promised()
            promised.fill(1)
            _ = promised.future.sink { sink.add($0) }
        }
    case .createUponFill:
        return Body {
            let promised = Promised()
            let subscription = promised.future.sink { sink.add($0) }
            promised.fill(1)
            withExtendedLifetime(subscription) {}
        }
    case .mapChain:
        return Body {
            let promised = Promised()
            let subscription = chain(promised.future).sink { sink.add($0) }
            promised.fill(1)
            withExtendedLifetime(subscription) {}
        }
    case .mapChainFilled:
        return Body {
            let promised = Promised()
            promised.fill(1)
            withExtendedLifetime(chain(promised.future).sink { sink.add($0) }) {}
        }
    case .hundredHandlers:
        return Body {
            let promised = Promised()
            let subscriptions = (0..<100).map { _ in promised.future.sink { sink.add($0) } }
            promised.fill(1)
            withExtendedLifetime(subscriptions) {}
        }
    case .registerCancel:
        let promised = Promised()
        return Body { promised.future.sink { sink.add($0) }.cancel() }
    case .flatMapLoopPending:
        let source = Holder<Promised>()
        @Sendable func count() -> AnyPublisher<Int, Never> {
            let promised = Promised()
            source.content = promised
            return promised.future.flatMap { $0 == 0 ? Just(-1).eraseToAnyPublisher() : count() }
                .eraseToAnyPublisher()
        }
        return Body {
            let subscription = count().sink { sink.add($0) }
            for turn in (0...10_000).reversed() { source.content?.fill(turn) }
            withExtendedLifetime(subscription) {}
        }
    case .flatMapLoopFilled:
        @Sendable func count(_ turns: Int) -> AnyPublisher<Int, Never> {
            Just(turns).flatMap { $0 == 0 ? Just(-1).eraseToAnyPublisher() : count($0 &- 1) }
                .eraseToAnyPublisher()
        }
        return Body { withExtendedLifetime(count(10_000).sink { sink.add($0) }) {} }
    case .contended:
        return Body { count in
            let promised = Holder<[Promised]>()
            promised.content = (0..<count).map { _ in Promised() }
            return {
                onTwoThreads {
                    for promised in promised.content ?? [] { promised.fill(1) }
                } and: {
                    let subscriptions = (promised.content ?? []).map { $0.future.sink { sink.add($0) } }
                    withExtendedLifetime(subscriptions) {}
                }
            }
        }
    case .zip:
        // 0.14.0 crashes when a zip of zips ends: it reads an unowned parent that has been released.
        return nil
    default:
        return nil
    }
}

/// A future with the promise that its initialiser provides.
private struct Promised {
    let future: Future<Int, Never>
    private let promise: Future<Int, Never>.Promise?

    init() {
        var promise: Future<Int, Never>.Promise?
        future = Future { promise = $0 }
        self.promise = promise
    }

    func fill(_ value: Int) {
        promise?(.success(value))
    }
}

private func chain(_ future: Future<Int, Never>) -> some Publisher<Int, Never> {
    future.map(increment).map(increment).map(increment).map(increment)
        .map(increment).map(increment).map(increment).map(increment)
}
