internal import DeferredCore
internal import Foundation

/// The `Progress` of a task, made when somebody first asks for it.
///
/// It follows the parts of the chain, and writes to itself from one thread at a time, for `Progress` on Linux has no
/// locks. Its units are billionths of the whole.
///
/// It keeps the task's control, so that cancelling it works as long as somebody holds it; the control knows it weakly.
///
/// SAFETY: `Progress` is Sendable; what is added here never changes.
final class TaskProgress: Progress, @unchecked Sendable {
    private static let units: Int64 = 1_000_000_000

    private let control: TaskControl
    private let tracker: ProgressTracker

    init(_ control: TaskControl) {
        self.control = control
        tracker = ProgressTracker(control)
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = Self.units
    }

    /// Cancels the task, before this returns. Not by way of `cancellationHandler`, which runs later on some queue, and
    /// which is free for others to set.
    override func cancel() {
        super.cancel()
        control.cancel()
    }

    /// Notes the end of the task.
    func end(hasSucceeded: Bool) {
        tracker.end(hasSucceeded: hasSucceeded)
        update()
        tracker.stop()
    }

    /// Brings the numbers up to date.
    func update() {
        tracker.update {
            [weak self] in
            self?.update()
        } _: { fraction, _ in
            let units = Int64(fraction * Double(Self.units))
            if units != completedUnitCount { completedUnitCount = units }
        }
    }
}
