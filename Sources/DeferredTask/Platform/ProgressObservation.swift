internal import DeferredCore
internal import Dispatch
internal import Foundation

// `Progress` has key-value observation on Darwin only (swift-corelibs-foundation does not implement it). Elsewhere it
// is sampled ten times a second. Proved by `ProgressTests`, "a foreign progress is followed while it is watched".

/// Tells of changes of a `Progress`, while active.
final class ProgressObservation: Sendable {
    private struct State: Sendable {
        var onChange: @Sendable () -> Void = {}
        var stop: (@Sendable () -> Void)?
    }

    private let progress: Progress
    private let state = Lock(State())

    init(_ progress: Progress) {
        self.progress = progress
    }

    var onChange: @Sendable () -> Void {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    var isActive: Bool {
        get { state.withLock { $0.stop != nil } }
        set {
            let stop = newValue ? Self.observe(progress, onChange) : nil
            let previous = state.withLock { state in
                defer { state.stop = stop }
                return state.stop
            }
            previous?()
        }
    }

    #if canImport(ObjectiveC)
    private static func observe(_ progress: Progress, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        // The fraction of a progress without a total never changes.
        let observations = Observer([
            progress.observe(\.fractionCompleted) { _, _ in body() },
            progress.observe(\.completedUnitCount) { _, _ in body() },
            progress.observe(\.totalUnitCount) { _, _ in body() },
        ])
        return { observations.value.forEach { $0.invalidate() } }
    }
    #else
    private static func observe(_ progress: Progress, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
        timer.setEventHandler(handler: body)
        timer.resume()
        let source = Observer(timer)
        return { source.value.cancel() }
    }
    #endif

    /// A subscription that any thread may end.
    // SAFETY: an observation may be invalidated, and a source cancelled, from any thread; not every SDK says so.
    private struct Observer<Value>: @unchecked Sendable {
        let value: Value

        init(_ value: Value) {
            self.value = value
        }
    }
}
