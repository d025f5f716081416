internal import DeferredCore

extension Task {
    /// The progress of the task for a `for await` loop: now, after changes, and a last time at the end.
    ///
    /// If the loop is slower than the reports, only the newest is kept. The sequence ends with the task; when a loop is
    /// left, or its task is cancelled, nothing stays registered. The task itself is not cancelled.
    ///
    /// ```swift
    /// for await snapshot in download.progressUpdates {
    ///     print(snapshot)
    /// }
    /// ```
    ///
    /// Each loop over it starts anew. See ``uponProgress(on:execute:)-(Executor,_)`` for what is kept.
    public var progressUpdates: some AsyncSequence<ProgressSnapshot, Never> & Sendable {
        ProgressUpdates(task: self)
    }
}

private struct ProgressUpdates<Success: Sendable>: AsyncSequence, Sendable {
    /// Runs deliveries in the loop, when it asks for the next value.
    struct Iterator: AsyncIteratorProtocol {
        var deliveries: AsyncStream<Loop.Delivery>.Iterator
        let newest: Newest

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ProgressSnapshot? {
            while let deliver = await deliveries.next(isolation: actor) {
                deliver()
                if let snapshot = newest.take() { return snapshot }
            }
            return nil
        }
    }

    /// Hands deliveries to the loop; at most one waits, plus the last.
    struct Loop: Executor {
        typealias Delivery = @Sendable () -> Void

        let deliveries: AsyncStream<Delivery>.Continuation

        func submit(_ body: @escaping Delivery) { deliveries.yield(body) }
    }

    final class Newest: Sendable {
        private let snapshot = Lock<ProgressSnapshot?>(nil)

        func put(_ new: ProgressSnapshot) { snapshot.withLock { $0 = new } }
        func take() -> ProgressSnapshot? { snapshot.withLock { $0.take() } }
    }

    let task: Task<Success>

    func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: Loop.Delivery.self)
        let newest = Newest()
        let updates = task.uponProgress(on: Loop(deliveries: continuation)) { newest.put($0) }
        // Registered after the updates, and so called when the last delivery has been handed over.
        let end = task.upon(.immediate) { _ in continuation.finish() }
        continuation.onTermination = { reason in
            // After `finish`, the last delivery still waits for the loop.
            guard case .cancelled = reason else { return }
            updates.cancel()
            end.cancel()
        }
        return Iterator(deliveries: stream.makeAsyncIterator(), newest: newest)
    }
}
