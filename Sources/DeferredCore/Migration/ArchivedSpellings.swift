public import Dispatch

// The names of the archived Deferred library, where they differ from ours, so that its users' code compiles, and says what
// to write instead. Not here: `map(upon:transform:)`, whose trailing closure `map(upon:_:)` takes as it is.

extension FutureProtocol {
    /// See ``flatMap(upon:_:)-(Executor,_)``, which this is.
    @available(*, deprecated, renamed: "flatMap(upon:_:)")
    public func andThen<NewFuture: FutureProtocol>(
        upon executor: some Executor,
        start startNextFuture: @escaping @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(upon: executor, startNextFuture)
    }

    /// See ``map(upon:_:)-(Executor,_)``, which this is: the closure runs once, and not at each use.
    @available(*, deprecated, renamed: "map(_:)")
    public func every<NewValue: Sendable>(
        per eachUseTransform: @escaping @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(eachUseTransform)
    }

    /// See ``zip(_:)``.
    @available(*, deprecated, message: "use 'zip(_:)', with this future as the first argument")
    public func and<each Other: FutureProtocol>(
        _ others: repeat each Other
    ) -> Future<(Value, repeat (each Other).Value)> {
        zip(self, repeat each others)
    }

    /// See ``upon(_:execute:)``. Runs on a background queue.
    @available(*, deprecated, message: "use 'upon(_:execute:)', and name the executor; it was '.any()'")
    @discardableResult
    public func upon(execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        upon(.any(), execute: body)
    }
}

extension Future {
    /// See ``never``.
    @available(*, deprecated, message: "use 'Future.never'")
    public init() {
        self = .never
    }
}

/// Any ``Executor`` will do where one is asked for.
@available(*, deprecated, renamed: "DispatchQueue")
public typealias PreferredExecutor = DispatchQueue
