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
/// SAFETY: `Progress` is Sendable; what is added here is atomic or locked.
final class TaskProgress: Progress, @unchecked Sendable {
    private static let units: Int64 = 1_000_000_000

    private let control: TaskControl
    /// How often somebody asked for an update since the last one began.
    private let requests = Atomic(0)
    private let hasSucceeded = Atomic(false)
    private let watches = Lock<[ObjectIdentifier: [Watchers.Watch]]>([:])

    init(_ control: TaskControl) {
        self.control = control
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = Self.units
    }

    deinit {
        for watch in watches.withLock({ $0.values.flatMap { $0 } }) { watch.cancel() }
    }

    /// Cancels the task, before this returns. Not by way of `cancellationHandler`, which runs later on some queue, and
    /// which is free for others to set.
    override func cancel() {
        super.cancel()
        control.cancel()
    }

    /// Notes the end of the task.
    func end(hasSucceeded: Bool) {
        if hasSucceeded { self.hasSucceeded.store(true, ordering: .releasing) }
        update()
    }

    /// Brings the numbers up to date.
    func update() {
        // Whoever comes while another thread writes leaves the work to it.
        guard requests.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        var served = 0
        repeat {
            served = requests.load(ordering: .acquiring)
            watchParts()
            write(control.share.fraction)
        } while requests.wrappingSubtract(served, ordering: .acquiringAndReleasing).newValue > 0
    }

    /// Whole only when the task has succeeded; never back, though a stage may turn out larger than it seemed.
    private func write(_ fraction: Double) {
        let units =
            hasSucceeded.load(ordering: .acquiring)
            ? Self.units : min(Int64(fraction * Double(Self.units)), Self.units - 1)
        if units > completedUnitCount { completedUnitCount = units }
    }

    /// Watches the parts that have come since the last time.
    private func watchParts() {
        for part in control.parts {
            let key = ObjectIdentifier(part)
            guard watches.withLock({ $0[key] == nil }) else { continue }
            let onChange: @Sendable () -> Void = { [weak self] in self?.update() }
            var new: [Watchers.Watch] = []
            if let watch = part.state.watch(onChange) { new.append(watch) }
            switch part.work {
            case .opaque: break
            case .reporting(let source): new.append(source.watch(onChange))
            case .inner(let task): new.append(task.watch(onChange))
            }
            watches.withLock { [new] in $0[key] = new }
        }
    }
}
