import Synchronization

/// A straightforward cancellation token source: a dictionary of handlers under a lock.
private final class LockedSource: Sendable {
    typealias Handler = @Sendable () -> Void

    struct State: Sendable {
        var next = 0
        var handlers: [Int: Handler] = [:]
    }

    private let state = Mutex(State())

    func register(_ handler: @escaping Handler) -> Int {
        state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            return state.next
        }
    }

    func unregister(_ number: Int) {
        // Released outside of the lock.
        let handler = state.withLock { $0.handlers.removeValue(forKey: number) }
        withExtendedLifetime(handler) {}
    }
}

/// A source with one lock for the handlers of all sources.
private final class GloballyLockedSource: Sendable {
    typealias Handler = @Sendable () -> Void

    private struct Key: Hashable {
        let source: ObjectIdentifier
        let number: Int
    }

    private struct State: Sendable {
        var next = 0
        var handlers: [Key: Handler] = [:]
    }

    private static let state = Mutex(State())

    func register(_ handler: @escaping Handler) -> Int {
        Self.state.withLock { state in
            state.next += 1
            state.handlers[Key(source: ObjectIdentifier(self), number: state.next)] = handler
            return state.next
        }
    }

    func unregister(_ number: Int) {
        let key = Key(source: ObjectIdentifier(self), number: number)
        let handler = Self.state.withLock { $0.handlers.removeValue(forKey: key) }
        withExtendedLifetime(handler) {}
    }
}

func mutexPerSourceBody(_ operation: Operation) -> Body? {
    let (first, second) = apart { LockedSource() }
    return body(operation, first, second) { source, handler in source.unregister(source.register(handler)) }
}

func globalLockBody(_ operation: Operation) -> Body? {
    let (first, second) = apart { GloballyLockedSource() }
    return body(operation, first, second) { source, handler in source.unregister(source.register(handler)) }
}

@inline(__always)
private func body<Source: Sendable>(
    _ operation: Operation,
    _ first: Source,
    _ second: Source,
    _ pass: @escaping @Sendable (Source, @escaping @Sendable () -> Void) -> Void
) -> Body? {
    let (sink, other) = apart { Sink() }
    switch operation {
    case .tokenRegister:
        return Body { pass(first) { sink.add(1) } }
    case .tokenContended, .tokenSeparate:
        let second = operation == .tokenContended ? first : second
        return Body { count in
            {
                onTwoThreads {
                    for _ in 0..<count { pass(first) { sink.add(1) } }
                } and: {
                    for _ in 0..<count { pass(second) { other.add(1) } }
                }
            }
        }
    default:
        return nil
    }
}

func bareMutexBody(_ operation: Operation) -> Body? {
    guard operation == .tokenRegister else { return nil }
    let counter = Counter()
    return Body { counter.increment() }
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func increment() { count.withLock { $0 &+= 1 } }
}
