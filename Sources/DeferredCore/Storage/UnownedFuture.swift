internal import Synchronization

/// A reference to a future that does not keep it.
///
/// SAFETY: `reference` keeps the memory of the future, whose atomic words stay as they are when it goes. Where there may
/// be no future left, only those are read, by their addresses: even a reference that comes and goes at once is one too
/// many for an object that is being destroyed.
@usableFromInline
package struct UnownedFuture: @unchecked Sendable {
    /// The words of a future that can be read when it is gone.
    @usableFromInline
    package struct Words {
        @usableFromInline let state: UnsafePointer<StateWord>
        @usableFromInline let attachment: UnsafePointer<Attachment>

        @inlinable
        init(_ state: borrowing StateWord, _ attachment: borrowing Attachment) {
            self.state = withUnsafePointer(to: state) { $0 }
            self.attachment = withUnsafePointer(to: attachment) { $0 }
        }
    }

    private let reference: UnownedReference<FutureNode>
    private let words: Words

    /// - Parameter words: Those of `future`.
    package init(_ future: __shared FutureNode, _ words: Words) {
        reference = UnownedReference(future)
        self.words = words
    }

    /// Whether it is filled, or was when it went.
    package var isFinished: Bool { words.state.pointee.isFilled }

    /// Whether it is filled, and not with a failure, as far as those know who are told of the end.
    package var hasSucceeded: Bool { words.attachment.pointee.hasSucceeded }

    /// Whether a handler waits for it.
    package var hasWaiting: Bool { reference.strong?.hasWaiting ?? false }

    /// Has `object` told of the end; false if that has come, or never will.
    package func attach(_ object: AnyObject) -> Bool {
        guard let future = reference.strong else { return false }
        return withExtendedLifetime(future) { words.attachment.pointee.attach(object) }
    }

    /// Ends it at once, if it is an operator's result whose closure has not begun.
    package func abandon() { reference.strong?.abandon() }
}

extension Stage {
    /// What can be read of this when it is gone.
    @inlinable
    package var words: UnownedFuture.Words { UnownedFuture.Words(word, attachment) }
}

extension ProducerStorage {
    /// What can be read of this when it is gone.
    @inlinable
    package var words: UnownedFuture.Words { UnownedFuture.Words(word, attachment) }
}

extension FutureStorage {
    /// What can be read of this when it is gone, as long as `notice` is there.
    @inlinable
    package final func words(_ notice: EndNotice) -> UnownedFuture.Words {
        UnownedFuture.Words(word, notice.attachment)
    }
}
