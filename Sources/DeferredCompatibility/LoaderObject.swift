public import DeferredCore
public import DeferredHTTP
public import Dispatch

/// The class that loaders of the series "HTTP in Swift" inherit from, there called `HTTPLoader`.
///
/// Change the name of the class that a loader inherits from, and its `load(task:)`, `super.load(task:)`, `nextLoader` and
/// `reset(with:)` are as they were:
///
/// ```swift
/// final class Logging: LoaderObject, @unchecked Sendable {
///     override func load(task: HTTPTask) {
///         print("loading \(task.request)")
///         super.load(task: task)
///     }
/// }
/// let chain = Logging() --> URLSessionLoader()
/// ```
///
/// In a chain, `-->` says what comes next, for each task that the chain loads. A chain resets all of its loaders, so that
/// `reset(with:)` has only to reset this one.
///
/// **Thread safety:** the properties of this class are safe to use from any thread. A subclass has to see to its own, and
/// says so by `@unchecked Sendable`.
/// **Lifetime:** keeps what comes next, as long as it lives.
///
/// SAFETY: all of its own state is in a lock.
open class LoaderObject: HTTPLink, @unchecked Sendable {
    private struct State: Sendable {
        /// Set by the program, instead of by a chain.
        var own: (any HTTPLoader)?
        /// That of the last task, for those that a subclass makes itself.
        var last: (any HTTPLoader)?
        /// Of the tasks of chains that have not completed: an object may be in several chains.
        var ofTasks: [ObjectIdentifier: any HTTPLoader] = [:]
    }

    private let state = Lock(State())

    /// Creates a loader.
    public init() {}

    /// The loader that this one passes tasks on to; `nil` if it isn't in a chain, and was given none. In several chains,
    /// that of the task that came last.
    ///
    /// Set it where there is no chain, once: setting it again traps.
    public final var nextLoader: (any HTTPLoader)? {
        get { state.withLock { $0.own ?? $0.last } }
        set {
            let isNew = state.withLock { state in
                defer { state.own = state.own ?? newValue }
                return state.own == nil
            }
            precondition(isNew, "the nextLoader of a loader can be set once; make another loader for another chain")
        }
    }

    /// Takes over a task. By default, passes it on to the next loader; without one, it fails with
    /// ``DeferredHTTP/HTTPError/Code/cannotConnect``.
    open func load(task: HTTPTask) {
        let id = ObjectIdentifier(task.execution)
        guard let next = state.withLock({ $0.own ?? $0.ofTasks[id] ?? $0.last }) else {
            task.fail(.cannotConnect, reason: "the loader has no next one; build a chain with `-->`")
            return
        }
        task.pass(to: next)
    }

    /// Brings the loader back to its initial state. By default, resets a ``nextLoader`` that the program has set.
    ///
    /// - Parameter group: Entered now, and left when that is done.
    open func reset(with group: DispatchGroup) {
        guard let next = state.withLock({ $0.own }) else { return }
        group.enter()
        next.reset().upon(.immediate) { group.leave() }
    }

    /// Calls ``load(task:)``.
    public final func load(_ task: HTTPTask) { load(task: task) }

    /// Calls ``load(task:)`` for a task of a chain.
    public final func load(_ task: HTTPTask, next: any HTTPLoader) {
        let id = ObjectIdentifier(task.execution)
        let old = state.withLock { state in
            defer { state.last = next }
            return (state.last, state.ofTasks.updateValue(next, forKey: id))
        }
        withExtendedLifetime(old) {}
        task.addCompletionHandler { [weak self] _ in
            let gone = self?.state.withLock { $0.ofTasks.removeValue(forKey: id) }
            withExtendedLifetime(gone) {}
        }
        load(task: task)
    }

    /// Calls ``reset(with:)``.
    public final func reset() -> Future<Void> {
        let group = DispatchGroup()
        reset(with: group)
        let done = Deferred<Void>()
        group.notify(queue: .any()) { done.fill() }
        return done.future
    }
}
