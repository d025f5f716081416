internal import DeferredCore
internal import Foundation
internal import Synchronization

/// The `Progress` of a task, made when somebody first asks for it.
///
/// It follows the parts of the chain, and writes to itself from one thread at a time, for `Progress` on Linux has no
/// locks. Its units are billionths of the whole.
///
/// It keeps the task's control, so that cancelling it works as long as somebody holds it; the control knows it weakly.
///
/// SAFETY: `Progress` is Sendable; `tracker` is set before anybody else knows this; the rest is atomic.
final class TaskProgress: Progress, @unchecked Sendable {
    private static let units: Int64 = 1_000_000_000

    private let control: TaskControl
    private var tracker: ProgressTracker?
    /// How often somebody asked for an update since the last one began.
    private let requests = Atomic(0)
    private let hasSucceeded = Atomic(false)

    init(_ control: TaskControl) {
        self.control = control
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = Self.units
        tracker = ProgressTracker(control) { [weak self] in self?.update() }
    }

    /// Cancels the task, before this returns. Not by way of `cancellationHandler`, which runs later on some queue, and
    /// which is free for others to set.
    override func cancel() {
        super.cancel()
        control.cancel()
    }

    /// Notes the end of the task, for the first time or again.
    func end(hasSucceeded: Bool) {
        // Pairs with the load in `update`.
        if hasSucceeded { self.hasSucceeded.store(true, ordering: .releasing) }
        update()
        tracker?.stop()
    }

    /// Brings the numbers up to date.
    func update() {
        // Whoever comes while another thread writes leaves the work to it, and releases to it what made this necessary.
        guard requests.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        var served = 0
        repeat {
            served = requests.load(ordering: .acquiring)
            let fraction = tracker?.read(hasSucceeded: hasSucceeded.load(ordering: .acquiring)).fraction ?? 0
            let units = Int64(fraction * Double(Self.units))
            if units != completedUnitCount { completedUnitCount = units }
        } while requests.wrappingSubtract(served, ordering: .acquiringAndReleasing).newValue > 0
    }
}
