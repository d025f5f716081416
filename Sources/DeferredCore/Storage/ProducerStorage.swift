/// A future that a single producer fills, with room for an object that is told of the end.
///
/// SAFETY: the producer is the only writer.
@usableFromInline
package final class ProducerStorage<Value: Sendable>: FutureStorage<Value>, @unchecked Sendable {
    @usableFromInline let attachment = Attachment()

    @inlinable
    package init() {
        super.init(.permanent())
    }

    @usableFromInline
    package override var attached: AnyObject? { attachment.object }

    @usableFromInline
    package override func attach(_ make: (_ isEnded: Bool) -> AnyObject) -> AnyObject { attachment.attach(make) }

    /// Fills, and runs the handlers.
    ///
    /// - Parameter tell: Called before them with what is attached.
    @inlinable
    package func end(with value: consuming Value, tell: (_ attached: AnyObject) -> Void) {
        slot.put(value)
        let handlers = word.publish()
        if let object = attachment.end() { tell(object) }
        runHandlers(handlers.reversed())
    }
}
