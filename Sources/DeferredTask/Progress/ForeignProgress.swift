internal import DeferredCore
internal import Foundation
internal import Synchronization

/// A `Progress` that a producer passed in.
///
/// Cancelled with the task, and the reverse. It is observed only while somebody watches the task's own progress.
///
/// `Progress` is read here, and written by its producer, without synchronisation between the two. On Darwin it
/// locks; on Linux a read concurrent with a write gives the old or the new number (swift-corelibs-foundation has no
/// locks there).
final class ForeignProgress: FractionSource {
    private let progress: Progress

    init(_ progress: Progress) {
        self.progress = progress
    }

    /// Includes the children of the progress.
    var fraction: Double { progress.isIndeterminate ? 0 : Fraction.clamped(progress.fractionCompleted) }

    var report: ProgressReport {
        ProgressReport(
            completed: progress.completedUnitCount,
            total: progress.isIndeterminate ? nil : progress.totalUnitCount,
            unit: progress.kind == .file ? .bytes : .count
        )
    }

    func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void { progress.watch(body) }

    func cancel() {
        if !progress.isCancelled { progress.cancel() }
    }

    /// Cancels `task` when the progress is cancelled, until the task ends or is dropped.
    func tie(to task: TaskHandle) {
        if !progress.isCancelled { task.cancel(when: ProgressCancellation.of(progress).token, isKeeping: false) }
        if progress.isCancelled { task.cancel() }
    }
}

/// The cancellation of a `Progress`, shared by all tasks that were created with it.
///
/// Kept only by the handler of that progress: when the handler is replaced, this is released, and the next task
/// installs another.
private final class ProgressCancellation: Sendable {
    /// Weak, so that an entry keeps nothing and a new progress at the address of a released one is not taken for it.
    private struct Entry: Sendable {
        weak var cancellation: ProgressCancellation?
    }

    private static let all = Lock<[ObjectIdentifier: Entry]>([:])

    private weak let progress: Progress?
    private let key: ObjectIdentifier
    private let source = CancellationTokenSource()
    private let hasRun = Atomic(false)

    private init(_ progress: Progress) {
        self.progress = progress
        key = ObjectIdentifier(progress)
    }

    deinit {
        let next = Self.all.withLock { [key] all in
            let next = all[key]?.cancellation
            if next == nil { all[key] = nil }
            return next
        }
        // Released outside of the lock, since it may be the last reference.
        withExtendedLifetime(next) {}
    }

    var token: CancellationToken { source.token }

    /// Returns the one that is installed, or a new one.
    static func of(_ progress: Progress) -> ProgressCancellation {
        let new = ProgressCancellation(progress)
        let known = new.enter()
        if known === new { new.install(in: progress) }
        return known
    }

    /// Enters this, unless another one is known for the progress; returns the one that is known afterwards.
    private func enter() -> ProgressCancellation {
        var stale: ProgressCancellation?
        while true {
            let known: ProgressCancellation = Self.all.withLock { [stale] all in
                if let known = all[key]?.cancellation, known !== stale { return known }
                all[key] = Entry(cancellation: self)
                return self
            }
            // Compared outside of the lock, since it may be the last reference.
            if known === self || known.progress === progress { return known }
            stale = known
        }
    }

    /// Extends the existing handler. Called only by the thread that entered this object, so that it happens once.
    private func install(in progress: Progress) {
        let previous = progress.cancellationHandler
        progress.cancellationHandler = {
            // Foundation may call the handler more than once.
            guard self.hasRun.exchange(true, ordering: .relaxed) == false else { return }
            previous?()
            self.source.cancel()
        }
    }
}
