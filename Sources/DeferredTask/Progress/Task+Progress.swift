public import DeferredCore
public import Foundation

extension Task {
    /// Creates a task that ends when `future` is filled, and takes its progress from a `Progress`.
    ///
    /// Cancelling the task cancels the progress, and the reverse. The progress is followed while somebody watches that of
    /// the task: by observation on Apple platforms, and elsewhere, where `Progress` has none, ten times a second.
    ///
    /// - Parameters:
    ///   - future: See ``init(_:uponCancel:)``.
    ///   - progress: Kept as long as the task. Its `cancellationHandler` is extended, not replaced.
    public init(_ future: some FutureProtocol<Result>, progress: Progress) {
        let foreign = ForeignProgress(progress)
        self.init(future.future.storage, .reporting(foreign), nil)
        if let control { foreign.tie(to: control) }
    }

    /// How far the task is, and all that it was derived from.
    ///
    /// Its `fractionCompleted` is the mean over the stages of the chain, where a stage that reports progress weighs 10
    /// and one that does not weighs 1. It is right whenever it is read, from any thread: what one thread reports while
    /// another writes is written by that one, an instant later. It never goes back, and is 1 when the task has succeeded.
    /// Cancelling it cancels the task.
    ///
    /// Made when first asked for, and shared while somebody holds it. A chain whose progress nobody reads makes none.
    public var progress: Progress {
        guard let control else {
            let progress = Progress(parent: nil, userInfo: nil)
            progress.totalUnitCount = 1
            if case .success = storage.peek() { progress.completedUnitCount = 1 }
            return progress
        }
        let (progress, isNew) = control.progress()
        if isNew {
            storage.upon(.immediate) { [weak progress] result in
                progress?.end(hasSucceeded: (try? result.get()) != nil)
            }
        }
        // The thread that ends the task may not have come to its handlers yet.
        if let result = storage.peek() {
            progress.end(hasSucceeded: (try? result.get()) != nil)
        } else {
            progress.update()
        }
        return progress
    }
}
