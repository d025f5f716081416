/// A future of a producer that tells of the end, with room for an object that is told.
///
/// SAFETY: what it adds to `FutureStorage` is atomic.
@usableFromInline
package final class ProducerStorage<Value: Sendable>: FutureStorage<Value>, @unchecked Sendable {
    @usableFromInline package let attachment = Attachment()

    @inlinable
    package init() {
        super.init(.permanent())
    }

    /// Fills unless somebody did, and runs the handlers.
    ///
    /// - Parameters:
    ///   - hasFailed: Whether the value is a failure.
    ///   - tell: As for `end`.
    @inlinable
    package func fill(
        with value: consuming Value,
        hasFailed: Bool,
        tell: @escaping (_ attached: AnyObject) -> Void
    ) -> Bool {
        guard word.claim() else {
            word.waitUntilFilled()
            return false
        }
        end(with: value, hasFailed: hasFailed, tell: tell)
        return true
    }

    /// Fills, and runs the handlers. For a producer that is the only one, or the winner of `claim`.
    ///
    /// - Parameters:
    ///   - hasFailed: Whether the value is a failure.
    ///   - tell: Called before them with what is attached. Unless this nests too deeply: what it lets go of may end other
    ///     futures.
    @inlinable
    package func end(
        with value: consuming Value,
        hasFailed: Bool,
        tell: @escaping (_ attached: AnyObject) -> Void
    ) {
        if hasFailed { attachment.fail() }
        slot.put(value)
        let handlers = word.publish()
        if let object = attachment.end() { Self.tell(object, tell) }
        runHandlers(handlers.reversed())
    }

    @usableFromInline
    static func tell(_ object: AnyObject, _ body: @escaping (_ attached: AnyObject) -> Void) {
        if Trampoline.nest({ body(object) }) == nil { Trampoline.putOff { body(object) } }
    }
}
