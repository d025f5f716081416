/// The storage of a future that is filled by a producer, with an attachment that the producer notifies of the end.
///
/// SAFETY: `attachment` is atomic; `running` is set before the future is shared.
@_fixed_layout
@usableFromInline
package final class ProducerStorage<Value: Sendable>: FutureStorage<Value>, @unchecked Sendable {
    @usableFromInline package let attachment = Attachment()
    /// The Swift task that fills this.
    @usableFromInline package var running: Task<Void, Never>?

    @inlinable
    package init() {
        super.init(.permanent())
    }

    @usableFromInline
    package override var attachmentAddress: UnsafePointer<Attachment>? { attachment.address }

    @usableFromInline
    package override var producer: Any? { running ?? attachment.object }

    /// Fills the future, unless it is filled, and runs the handlers; see `end`.
    @inlinable
    package func fill(
        with value: consuming Value,
        hasFailed: Bool,
        isTrivial: Bool = false,
        tell: @escaping (_ attached: AnyObject) -> Void
    ) -> Bool {
        guard word.claimOrWait() else { return false }
        end(with: value, hasFailed: hasFailed, isTrivial: isTrivial, tell: tell)
        return true
    }

    /// Fills the future, and runs the handlers. For the only producer, or the winner of `claim`.
    ///
    /// - Parameters:
    ///   - hasFailed: True if the value is a failure.
    ///   - isTrivial: True if nothing has to be done to free the value.
    ///   - tell: Notifies the attached object. It is called before the handlers, unless calls nest too deeply; the
    ///     objects it releases may end other futures.
    @inlinable
    package func end(
        with value: consuming Value,
        hasFailed: Bool,
        isTrivial: Bool = false,
        tell: @escaping (_ attached: AnyObject) -> Void
    ) {
        slot.put(value)
        let handlers = word.publish(isTrivial: isTrivial)
        if let object = attachment.end(hasFailed: hasFailed) { Self.tell(object, tell) }
        runHandlers(handlers.reversed())
    }

    @usableFromInline
    static func tell(_ object: AnyObject, _ body: @escaping (_ attached: AnyObject) -> Void) {
        if Trampoline.nest({ body(object) }) == nil { Trampoline.putOff { body(object) } }
    }
}
