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
final class ForeignProgress: ProgressSource {
    private let progress: Progress

    init(_ progress: Progress) {
        self.progress = progress
    }

    var report: ProgressReport {
        let isIndeterminate = progress.isIndeterminate
        return ProgressReport(
            completed: progress.completedUnitCount,
            total: isIndeterminate ? nil : progress.totalUnitCount,
            unit: progress.kind == .file ? .bytes : .count,
            // Includes the children of the progress.
            fraction: isIndeterminate ? 0 : progress.fractionCompleted
        )
    }

    func watch(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void { progress.watch(body) }

    func cancel() {
        if !progress.isCancelled { progress.cancel() }
    }

    /// Cancels `task` when the progress is cancelled, until the task ends or is dropped.
    func tie(to task: TaskHandle) {
        if !progress.isCancelled { task.cancel(when: ProgressCancellation.token(of: progress), isKeeping: false) }
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

    /// Returns a token that is cancelled with `progress`. The first one extends the handler of the progress.
    static func token(of progress: Progress) -> CancellationToken {
        let new = ProgressCancellation(progress)
        // What is found may be the last reference, and is released outside of the lock.
        let (known, owner) = all.withLock { [key = new.key] all in
            let known = all[key]?.cancellation
            let owner = known?.progress
            // A released progress, whose handler somebody keeps, may have been at the same address.
            if owner == nil { all[key] = Entry(cancellation: new) }
            return (known, owner)
        }
        if let known, owner != nil { return known.source.token }
        let previous = progress.cancellationHandler
        progress.cancellationHandler = {
            // Foundation may call the handler more than once.
            guard new.hasRun.exchange(true, ordering: .relaxed) == false else { return }
            previous?()
            new.source.cancel()
        }
        // It may have been cancelled before the handler was in its place, after another task had got this token.
        if progress.isCancelled { new.source.cancel() }
        return new.source.token
    }
}
