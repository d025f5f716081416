extension FutureNode {
    /// Resumes `continuation` as soon as the future is filled.
    ///
    /// It carries no value, since the awaiting code holds the future, and reads the value there.
    @usableFromInline
    package final func resume(_ continuation: UnsafeContinuation<Void, Never>) {
        if !give(.passRetained(Notice(.permanent()) { continuation.resume() })) { continuation.resume() }
    }

    /// Waits until the future is filled, or the current task is cancelled.
    ///
    /// Swift may call the cancellation handler before the code suspends, meanwhile or later. So both ends of the wait fill
    /// another future, and the code waits for that.
    @usableFromInline
    final func waitUnlessCancelled() async {
        let end = FutureStorage<Void>()
        let notice = end.fill(after: self)
        await withTaskCancellationHandler {
            await waitRaisingPriority { end.resume($0) }
        } onCancel: {
            notice.cancel()
            _ = end.fill(with: ())
        }
    }
}

extension FutureStorage<Void> {
    /// Fills this as soon as another future is filled. Returns the handler that does.
    final func fill(after other: FutureNode) -> HandlerNode {
        let notice = Notice(.waiting(for: other)) { _ = self.fill(with: ()) }
        if !other.add(notice) { notice.call() }
        return notice
    }
}
