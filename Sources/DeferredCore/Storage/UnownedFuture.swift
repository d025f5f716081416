internal import Synchronization

/// A reference to a future that does not keep it alive.
///
/// SAFETY: `reference` keeps the memory of the future, whose atomic words stay unchanged after deinitialisation. Where
/// the future may be gone, only these words are read, by their addresses: an object that is being destroyed must not be
/// retained, not even for a moment.
@usableFromInline
package struct UnownedFuture: @unchecked Sendable {
    /// The words of a future, beside its state, that can be read after it is gone.
    @usableFromInline
    package struct Words {
        @usableFromInline package let attachment: UnsafePointer<Attachment>

        @inlinable
        init(_ attachment: borrowing Attachment) {
            self.attachment = withUnsafePointer(to: attachment) { $0 }
        }
    }

    @usableFromInline let reference: UnownedReference<FutureNode>
    @usableFromInline let words: Words

    /// - Parameter words: The words of `future`.
    @inlinable
    package init(_ future: __shared FutureNode, _ words: Words) {
        reference = UnownedReference(future)
        self.words = words
    }

    /// Creates a reference to an operator's result.
    package init(stage: FutureNode) {
        guard let words = stage.stageWords else {
            preconditionFailure("\(type(of: stage)) is not an operator's result")
        }
        self.init(stage, words)
    }

    /// The address of the future, which may be gone. No other is there as long as this exists.
    package var address: UInt { UInt(bitPattern: reference.object.toOpaque()) }

    /// True if the future is neither filled nor ever will be, since nothing is left of it.
    package var isLost: Bool {
        // In this order: it may be filled, and freed, meanwhile.
        reference.strong == nil && !isFinished
    }

    /// True if the future is filled, or was filled when it was freed.
    @inlinable
    package var isFinished: Bool { reference.object._withUnsafeGuaranteedRef { $0.word.isFilled } }

    /// True if the future is filled, and not with a failure, as recorded in its attachment.
    package var hasSucceeded: Bool { words.attachment.pointee.hasSucceeded }

    /// True if a cancellation was noted in the attachment of the future, which may be gone.
    package var isCancelled: Bool { words.attachment.pointee.isCancelled }

    /// True while a handler waits for the future.
    package var hasWaiting: Bool { reference.strong?.hasHandlers ?? false }

    /// Attaches `object`, which is notified of the end; false if the future has ended, is gone, or has an attached
    /// object.
    package func attach(_ object: AnyObject) -> Bool {
        withAttachment { $0.attach(object) } ?? false
    }

    /// Calls `body` with the attachment; returns `nil` if the future is gone.
    package func withAttachment<Result>(_ body: (borrowing Attachment) -> Result) -> Result? {
        guard let future = reference.strong else { return nil }
        return withExtendedLifetime(future) { body(words.attachment.pointee) }
    }

    /// As an operator's result: the future that it waits for.
    package enum Input {
        /// It has not been filled, or not delivered its value yet.
        case waiting(FutureNode)
        /// It was filled.
        case ended
        /// It is gone, and was never filled.
        case lost
    }

    /// As an operator's result: the future that it waits for.
    package var input: Input {
        guard let future = reference.strong else { return isFinished ? .ended : .lost }
        return future.membership.examine()
    }

    /// The objects that are attached to this future, and to those that it waits for as the result of operators of tasks.
    ///
    /// - Parameter count: The maximum number of futures to look at.
    package func attached(within count: Int) -> [AnyObject] {
        var (objects, seen) = ([AnyObject](), 0)
        _ = reference.strong?.forEachInput { future in
            if let object = future.stageWords?.attachment.pointee.object { objects.append(object) }
            seen += 1
            return seen < count
        }
        return objects
    }

    /// See `FutureNode.escalatePriority`.
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    package func escalatePriority(to priority: TaskPriority) { reference.strong?.escalatePriority(to: priority) }

    /// Ends the future at once, if it is an operator's result whose closure has not begun.
    package func abandon() { reference.strong?.abandon() }
}

extension Stage {
    /// The words that can be read after this is gone.
    @inlinable
    package var words: UnownedFuture.Words { UnownedFuture.Words(attachment) }
}

extension ProducerStorage {
    /// The words that can be read after this is gone.
    @inlinable
    package var words: UnownedFuture.Words { UnownedFuture.Words(attachment) }
}

extension FutureStorage {
    /// Returns the words that can be read after this is gone, as long as `notice` is alive.
    @inlinable
    package final func words(_ notice: EndNotice) -> UnownedFuture.Words { UnownedFuture.Words(notice.attachment) }
}
