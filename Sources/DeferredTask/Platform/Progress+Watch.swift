internal import DeferredCore
internal import Dispatch
internal import Foundation

// `Progress` has key-value observation on Darwin only (swift-corelibs-foundation does not implement it). Elsewhere it
// is sampled ten times a second. Proved by `ProgressTests`, "a foreign progress is followed while it is watched".

extension Progress {
    /// Calls `body` after changes, from any thread, until the closure that this returns is called.
    #if canImport(ObjectiveC)
    func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        // The fraction of a progress without a total never changes.
        let observations = Subscription([
            observe(\.fractionCompleted) { _, _ in body() },
            observe(\.completedUnitCount) { _, _ in body() },
            observe(\.totalUnitCount) { _, _ in body() },
        ])
        return { observations.value.forEach { $0.invalidate() } }
    }
    #else
    func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
        timer.setEventHandler(handler: body)
        timer.resume()
        let source = Subscription(timer)
        return { source.value.cancel() }
    }
    #endif
}

/// A subscription that any thread may end.
// SAFETY: an observation may be invalidated, and a source cancelled, from any thread; not every SDK says so.
private struct Subscription<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
