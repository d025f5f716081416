/// The right to make tasks on an engine, which isn't invalidated while somebody has it. Releasing the lease gives it back.
package final class EngineLease: Sendable {
    package let engine: any Engine
    private let onReturn: @Sendable () -> Void

    /// - Parameter onReturn: called once, when the last reference has gone. It must not be dropped under a lock.
    package init(_ engine: any Engine, onReturn: @escaping @Sendable () -> Void = {}) {
        self.engine = engine
        self.onReturn = onReturn
    }

    deinit {
        onReturn()
    }
}
