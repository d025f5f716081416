internal import DeferredCore
internal import Foundation
internal import Synchronization

/// The `Progress` of a task, created on first use.
///
/// It follows the parts of the chain, and writes to itself from one thread at a time, since `Progress` on Linux has no
/// locks. Its units are billionths of the whole.
///
/// It keeps the task's control, so that it can cancel the task as long as somebody holds it; the control refers to it
/// weakly.
///
/// SAFETY: `Progress` is Sendable; `task`, `followed` and `registration` are set before the object is shared,
/// `hasShownCancellation` belongs to the thread that is in the loop of `update`, and the rest is atomic.
final class TaskProgress: Progress, @unchecked Sendable {
    private static let units: Int64 = 1_000_000_000

    /// `nil` for a task that was created with its result. Changes only in `deinit`.
    @exclusivity(unchecked)
    private var task: TaskHandle?
    @exclusivity(unchecked)
    private var followed: FollowedProgress?
    /// Waits for the end of the task.
    private var registration: Registration?
    /// The number of requested updates since the last one began.
    private let requests = Atomic(0)
    private let hasSucceeded = Atomic(false)
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
        guard let task else { return }
        followed = FollowedProgress(task) { [weak self] in self?.update() }
        registration = storage.upon(.immediate) { [weak self] result in self?.end(with: result) }
    }

    // So that no watches pile up on a long-lived task whose progress is read often.
    deinit {
        registration?.cancel()
        followed?.stop()
        followed = nil
        // The control may hold the progress of another task, which holds its control, and so on.
        var controls: [AnyObject] = task.take().map { [$0.control] } ?? []
        Trampoline.free(&controls)
    }

    /// Cancels the task before this returns, which in turn cancels this progress. Does not use `cancellationHandler`,
    /// which runs later on some queue, and which others may set.
    override func cancel() {
        task?.cancel()
    }

    /// True if the task was cancelled before its end. `super` is told in `update`.
    override var isCancelled: Bool {
        get { task?.isCancelled ?? false }
        set { if newValue { cancel() } }
    }

    /// True if every stage that reports does so without a total, and nothing else is completed yet.
    override var isIndeterminate: Bool { hasUnknownTotal.load(ordering: .relaxed) }

    /// Notes the end of the task, for the first time or again.
    func end(with result: Result<some Sendable, any Error>) {
        // Pairs with the load in `update`.
        if case .success = result { hasSucceeded.store(true, ordering: .releasing) }
        update()
        followed?.stop()
    }

    /// Brings everything up to date.
    func update() {
        // A thread that comes while another one writes leaves the work to it, and releases its own changes to it.
        guard requests.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
        var served = 0
        repeat {
            served = requests.load(ordering: .acquiring)
            let hasSucceeded = hasSucceeded.load(ordering: .acquiring)
            write(followed?.read(hasSucceeded: hasSucceeded) ?? (hasSucceeded ? 1 : 0, Share()))
            if isCancelled, !hasShownCancellation {
                hasShownCancellation = true
                super.cancel()
            }
        } while requests.wrappingSubtract(served, ordering: .acquiringAndReleasing).newValue > 0
    }

    private func write(_ news: (fraction: Double, share: Share)) {
        // Foundation gives an indeterminate progress a fraction of 0, so that no other fraction may be indeterminate.
        hasUnknownTotal.store(news.fraction == 0 && news.share.isIndeterminate, ordering: .relaxed)
        let units = Int64(news.fraction * Double(Self.units))
        if units != completedUnitCount { completedUnitCount = units }
    }
}
