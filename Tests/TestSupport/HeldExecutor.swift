import DeferredCore

/// Runs nothing until told to.
package final class HeldExecutor: Executor {
    private let bodies = Lock<[@Sendable () -> Void]>([])

    package init() {}

    package func submit(_ body: @escaping @Sendable () -> Void) { bodies.withLock { $0.append(body) } }

    package func runAll() {
        let bodies = bodies.withLock { bodies in
            defer { bodies = [] }
            return bodies
        }
        for body in bodies { body() }
    }
}
