/// Runs closures inline: on the thread that fills the future or, if it is already filled, on the one that registers.
///
/// This is the cheapest executor, and the default of the operators. Keep its closures short: they hold up the thread
/// that fills.
public struct ImmediateExecutor: Executor {
    /// Creates an immediate executor; all of them are equivalent.
    @inlinable
    public init() {}

    /// Runs `body` before returning.
    @inlinable
    public func submit(_ body: @escaping @Sendable () -> Void) {
        body()
    }
}

extension Executor where Self == ImmediateExecutor {
    /// An executor that runs closures inline, on the thread that fills the future.
    @inlinable
    public static var immediate: ImmediateExecutor { ImmediateExecutor() }
}
