internal import Synchronization

/// A reference to a future that does not keep it alive.
///
/// SAFETY: `reference` keeps the memory of the future, whose atomic words stay unchanged after deinitialisation. Where
/// the future may be gone, only its state and its attachment are read, by their addresses: an object that is being
/// destroyed must not be retained, not even for a moment.
@frozen
@usableFromInline
package struct UnownedFuture: @unchecked Sendable {
    @usableFromInline let reference: UnownedReference<FutureNode>
    @usableFromInline let attachment: UnsafePointer<Attachment>

    /// - Parameter observer: The observer with the attachment of a future that has none. Whoever keeps this keeps it, too.
    @inlinable
    package init(_ future: __shared FutureNode, _ observer: __shared AttachmentObserver? = nil) {
        guard let attachment = observer?.attachment.address ?? future.attachmentAddress else {
            preconditionFailure("\(type(of: future)) has no attachment")
        }
        reference = UnownedReference(future)
        self.attachment = attachment
    }

    /// The address of the future, which may be gone. No other is there as long as this exists.
    package var address: UInt { UInt(bitPattern: reference.object.toOpaque()) }

    /// True if the future is neither filled nor ever will be, since nothing is left of it.
    package var isLost: Bool {
        // In this order: it may be filled, and freed, meanwhile.
        strong == nil && !isFinished
    }

    /// True if the future is filled, or was filled when it was freed.
    @inlinable
    package var isFinished: Bool { reference.object._withUnsafeGuaranteedRef { $0.word.isFilled } }

    /// True if the future is filled, and not with a failure, as recorded in its attachment.
    package var hasSucceeded: Bool { attachment.pointee.hasSucceeded }

    /// True if a cancellation was noted in the attachment of the future, which may be gone.
    package var isCancelled: Bool { attachment.pointee.isCancelled }

    /// The future, unless it is gone.
    package var strong: FutureNode? { reference.strong }

    /// Attaches `object`, which is notified of the end; false if the future has ended, is gone, or has an attached
    /// object.
    package func attach(_ object: AnyObject) -> Bool {
        withAttachment { $0.attach(object) } ?? false
    }

    /// Calls `body` with the attachment; returns `nil` if the future is gone.
    package func withAttachment<Result>(_ body: (borrowing Attachment) -> Result) -> Result? {
        guard let future = strong else { return nil }
        return withExtendedLifetime(future) { body(attachment.pointee) }
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
        guard let future = strong else { return isFinished ? .ended : .lost }
        return future.membership.examine()
    }

    /// The objects that are attached to this future, and to those that it waits for as the result of operators of tasks.
    ///
    /// - Parameter count: The maximum number of futures to look at.
    package func attached(within count: Int) -> [AnyObject] {
        var (objects, seen) = ([AnyObject](), 0)
        _ = strong?.forEachInput { future in
            if let object = future.attachmentAddress?.pointee.object { objects.append(object) }
            seen += 1
            return seen < count
        }
        return objects
    }
}
