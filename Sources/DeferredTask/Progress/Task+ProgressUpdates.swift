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
    struct Iterator: AsyncIteratorProtocol {
        var changes: AsyncStream<Void>.Iterator
        let inbox: Inbox

        mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> ProgressSnapshot? {
            while await changes.next(isolation: actor) != nil {
                if let snapshot = inbox.open() { return snapshot }
            }
            return nil
        }
    }

    /// Keeps the deliveries until the loop asks for the next value.
    ///
    /// Only the iterator keeps it: a delivery keeps its executor, so an executor that kept its deliveries would be a
    /// cycle until they run, and the last one may wait when the loop is left.
    final class Inbox: Sendable {
        private let deliveries = Lock<[@Sendable () -> Void]>([])
        private let snapshot = Lock<ProgressSnapshot?>(nil)

        func add(_ delivery: @escaping @Sendable () -> Void) { deliveries.withLock { $0.append(delivery) } }

        func put(_ new: ProgressSnapshot) { snapshot.withLock { $0 = new } }

        /// Runs the deliveries, and returns the newest snapshot if they brought one.
        func open() -> ProgressSnapshot? {
            let waiting = deliveries.withLock { deliveries in
                defer { deliveries = [] }
                return deliveries
            }
            for deliver in waiting { deliver() }
            return snapshot.withLock { $0.take() }
        }
    }

    /// Hands deliveries to the loop, or drops them when it was left; at most one waits, plus the last.
    struct Loop: Executor {
        let inbox: UnownedReference<Inbox>
        let changes: AsyncStream<Void>.Continuation

        func submit(_ body: @escaping @Sendable () -> Void) {
            inbox.strong?.add(body)
            changes.yield()
        }
    }

    let task: Task<Success>

    func makeAsyncIterator() -> Iterator {
        let (stream, changes) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let inbox = Inbox()
        let reference = UnownedReference(inbox)
        let loop = Loop(inbox: reference, changes: changes)
        // The end is part of the last delivery. A handler of its own could be called first: by the thread that registers
        // it, while another one still runs the older handlers.
        let updates = task.observeProgress(on: loop, clock: ContinuousClock()) { snapshot, isLast in
            reference.strong?.put(snapshot)
            if isLast { changes.finish() }
        }
        changes.onTermination = { reason in
            if case .cancelled = reason { updates.cancel() }
        }
        return Iterator(changes: stream.makeAsyncIterator(), inbox: inbox)
    }
}
