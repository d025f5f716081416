public import Dispatch

/// A queue runs each closure as a separate block; a serial queue keeps their order.
extension DispatchQueue: Executor {
    /// Enqueues `body` with `async`.
    public func submit(_ body: @escaping @Sendable () -> Void) {
        async(execute: body)
    }
}

extension Executor where Self == DispatchQueue {
    /// The main queue. For closures that touch `@MainActor` state, use `.mainActor` instead.
    public static var main: DispatchQueue { DispatchQueue.main }

    /// A background queue, for closures that merely have to run off the thread that fills the future.
    public static func any() -> DispatchQueue { DispatchQueue.global() }

    /// Returns the global concurrent queue for a quality of service.
    public static func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue {
        DispatchQueue.global(qos: qos)
    }
}
