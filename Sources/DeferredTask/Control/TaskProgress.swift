internal import DeferredCore
internal import Foundation
internal import Synchronization

/// The `Progress` of a task, created on first use.
///
/// Its observer calls it on one thread at a time, since `Progress` on Linux has no locks. Its units are billionths of the
/// whole.
///
/// It keeps the task's control, so that it can cancel the task as long as somebody holds it; the control refers to it
/// weakly.
///
/// SAFETY: `Progress` is Sendable; `task`, `observer` and `registration` are set before the object is shared,
/// `hasShownCancellation` belongs to the thread that is in `write`, and the rest is atomic.
final class TaskProgress: Progress, @unchecked Sendable {
    private static let units: Int64 = 1_000_000_000

    /// `nil` for a task that was created with its result. Changes only in `deinit`.
    @exclusivity(unchecked)
    private var task: TaskHandle?
    @exclusivity(unchecked)
    private var observer: ProgressObserver<ImmediateExecutor>?
    /// Waits for the end of the task.
    private var registration: Registration?
    private let hasUnknownTotal = Atomic(false)
    /// True once `super` was told of the cancellation.
    @exclusivity(unchecked)
    private var hasShownCancellation = false

    /// - Parameters:
    ///   - storage: Tells of the end.
    init<Success: Sendable>(_ task: TaskHandle?, _ storage: FutureStorage<Result<Success, any Error>>) {
        self.task = task
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = Self.units
        // The documented default of Foundation; on Linux, the default differs.
        isCancellable = true
        let observer = ProgressObserver(task, ImmediateExecutor(), ContinuousClock(), isRepeating: true) {
            [weak self] snapshot, isIndeterminate, _ in self?.write(snapshot.fraction, isIndeterminate)
        }
        self.observer = observer
        registration = observer.start(until: storage)
    }

    // So that no followers pile up on a long-lived task whose progress is read often.
    deinit {
        registration?.cancel()
        (registration, observer) = (nil, nil)
        // The control may hold the progress of another task, which holds its control, and so on.
        var controls: [AnyObject] = task.take().map { [$0.control] } ?? []
        Trampoline.free(&controls)
    }

    /// Cancels the task before this returns, which in turn cancels this progress. Does not use `cancellationHandler`,
    /// which runs later on some queue, and which others may set.
    override func cancel() {
        task?.cancel()
    }

    /// True if the task was cancelled before its end. `super` is told in `write`.
    override var isCancelled: Bool {
        get { task?.isCancelled ?? false }
        set { if newValue { cancel() } }
    }

    /// True if every stage that reports does so without a total, and nothing else is completed yet.
    override var isIndeterminate: Bool { hasUnknownTotal.load(ordering: .relaxed) }

    /// Notes the end of the task, for the first time or again.
    func end(with result: Result<some Sendable, any Error>) {
        observer?.end(with: result)
    }

    /// Brings everything up to date.
    func update() { observer?.changed() }

    private func write(_ fraction: Double, _ isIndeterminate: Bool) {
        // Foundation gives an indeterminate progress a fraction of 0, so that no other fraction may be indeterminate.
        hasUnknownTotal.store(fraction == 0 && isIndeterminate, ordering: .relaxed)
        let units = Int64(fraction * Double(Self.units))
        if units != completedUnitCount { completedUnitCount = units }
        if isCancelled, !hasShownCancellation {
            hasShownCancellation = true
            super.cancel()
        }
    }
}
