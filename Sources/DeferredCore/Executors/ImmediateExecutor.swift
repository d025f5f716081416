/// Runs closures inline, on the thread that fills the future or, when it is filled already, that registers.
///
/// The cheapest executor, and the default of the operators. Keep its closures short: they hold up the thread that
/// fills.
public struct ImmediateExecutor: Executor {
    /// Creates the executor; all of them are alike.
    @inlinable
    public init() {}

    /// Runs `body` before returning.
    @inlinable
    public func submit(_ body: @escaping @Sendable () -> Void) {
        body()
    }
}

extension Executor where Self == ImmediateExecutor {
    /// Runs closures inline, on the thread that fills the future.
    @inlinable
    public static var immediate: ImmediateExecutor { ImmediateExecutor() }
}
