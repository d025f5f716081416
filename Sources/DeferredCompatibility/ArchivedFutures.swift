public import DeferredCore
public import Dispatch

// The names of the archived Deferred library that differ from ours, deprecated, so that code written for that library
// compiles, with warnings that name the replacement.
//
// The overloads with the old label `upon:` have no default argument and are disfavoured, so that only code that spells
// the label selects them.

extension FutureProtocol {
    /// The old name of ``DeferredCore/FutureProtocol/flatMap(on:_:)-(Executor,_)``.
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func andThen<NewFuture: FutureProtocol>(
        upon executor: some Executor,
        start startNextFuture: @escaping @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(on: executor, startNextFuture)
    }

    /// The old name of ``DeferredCore/FutureProtocol/map(on:_:)-(Executor,_)``. The closure runs once, not at each use.
    @available(*, deprecated, renamed: "map(_:)")
    public func every<NewValue: Sendable>(
        per eachUseTransform: @escaping @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(eachUseTransform)
    }

    /// See ``DeferredCore/zip(_:)``.
    @available(*, deprecated, message: "use 'zip(_:)', with this future as the first argument")
    public func and<each Other: FutureProtocol>(
        _ others: repeat each Other
    ) -> Future<(Value, repeat (each Other).Value)> {
        zip(self, repeat each others)
    }

    /// Calls `body` on a background queue. See ``DeferredCore/FutureProtocol/upon(_:execute:)``.
    @available(*, deprecated, message: "use 'upon(_:execute:)', and name the executor; it was '.any()'")
    @discardableResult
    public func upon(execute body: @escaping @Sendable (Value) -> Void) -> Registration {
        upon(.any(), execute: body)
    }

    /// See ``DeferredCore/FutureProtocol/future``.
    @available(*, deprecated, message: "use 'future', or 'Future(_:)'")
    public func eraseToFuture() -> Future<Value> {
        future
    }

    /// See ``DeferredCore/Executor/any()``.
    @available(*, deprecated, message: "name an executor; this is 'DispatchQueue.any()'")
    public static var defaultUponExecutor: DispatchQueue { .any() }
}

extension FutureProtocol {
    /// See ``DeferredCore/FutureProtocol/map(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "map(on:_:)")
    public func map<NewValue: Sendable>(
        upon executor: some Executor,
        transform: @escaping @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(on: executor, transform)
    }

    /// See ``DeferredCore/FutureProtocol/map(on:_:)-(MainActorExecutor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "map(on:_:)")
    public func map<NewValue: Sendable>(
        upon executor: MainActorExecutor,
        transform: @escaping @MainActor @Sendable (Value) -> NewValue
    ) -> Future<NewValue> {
        map(on: executor, transform)
    }

    /// See ``DeferredCore/FutureProtocol/flatMap(on:_:)-(Executor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func flatMap<NewFuture: FutureProtocol>(
        upon executor: some Executor,
        _ transform: @escaping @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(on: executor, transform)
    }

    /// See ``DeferredCore/FutureProtocol/flatMap(on:_:)-(MainActorExecutor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "flatMap(on:_:)")
    public func flatMap<NewFuture: FutureProtocol>(
        upon executor: MainActorExecutor,
        _ transform: @escaping @MainActor @Sendable (Value) -> NewFuture
    ) -> Future<NewFuture.Value> {
        flatMap(on: executor, transform)
    }
}

extension Future {
    /// See ``DeferredCore/Future/async(on:execute:)-(Executor,_)``, which has no flags.
    @_disfavoredOverload
    @available(*, deprecated, message: "use 'async(on:execute:)', and name the executor; it was '.any()'")
    public static func async(
        upon queue: DispatchQueue = .any(),
        flags: DispatchWorkItemFlags = [],
        execute body: @escaping @Sendable () -> Value
    ) -> Future {
        let deferred = Deferred<Value>()
        queue.async(flags: flags) { deferred.fill(with: body()) }
        return deferred.future
    }

    /// See ``DeferredCore/Future/async(on:execute:)-(MainActorExecutor,_)``.
    @_disfavoredOverload
    @available(*, deprecated, renamed: "async(on:execute:)")
    public static func async(
        upon executor: MainActorExecutor,
        execute body: @escaping @MainActor @Sendable () -> Value
    ) -> Future {
        async(on: executor, execute: body)
    }

    /// See ``DeferredCore/Future/never``.
    @available(*, deprecated, message: "use 'Future.never'")
    public init() {
        self = .never
    }
}

/// The old name of the default executor's type. Every operator now accepts any ``DeferredCore/Executor``.
@available(*, deprecated, renamed: "DispatchQueue")
public typealias PreferredExecutor = DispatchQueue
