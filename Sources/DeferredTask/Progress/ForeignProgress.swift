internal import Foundation

/// A `Progress` that a producer handed in.
///
/// Cancelled with the task, and the reverse. It is observed only while somebody watches the task's own progress.
///
/// SAFETY: `Progress` is read here, and written by its producer, without synchronisation between the two. On Darwin it
/// locks; on Linux a read beside a write gives an old or a new number (swift-corelibs-foundation has no locks there).
final class ForeignProgress: FractionSource, @unchecked Sendable {
    private let progress: Progress
    private let watchers: Watchers

    init(_ progress: Progress) {
        self.progress = progress
        let observation = ProgressObservation(progress)
        let watchers = Watchers { observation.isActive = $0 }
        observation.onChange = { [weak watchers] in watchers?.notify() }
        self.watchers = watchers
    }

    var fraction: Double { progress.fractionCompleted }

    var report: ProgressReport {
        ProgressReport(
            completed: progress.completedUnitCount,
            total: progress.isIndeterminate ? nil : progress.totalUnitCount,
            unit: progress.kind == .file ? .bytes : .count
        )
    }

    func watch(_ body: @escaping @Sendable () -> Void) -> Watchers.Watch { watchers.add(body) }

    func cancel() {
        if !progress.isCancelled { progress.cancel() }
    }

    /// Cancels `control` when the progress is cancelled.
    func tie(to control: TaskControl) {
        let previous = progress.cancellationHandler
        progress.cancellationHandler = { [weak control] in
            previous?()
            control?.cancel()
        }
        if progress.isCancelled { control.cancel() }
    }
}
