/// A sequence that makes an iterator each time it is read, behind those of which the public API says only the elements.
package struct IteratorSequence<Iterator: AsyncIteratorProtocol>: AsyncSequence, Sendable {
    package typealias Element = Iterator.Element
    package typealias Failure = Iterator.Failure

    private let makeIterator: @Sendable () -> Iterator

    package init(_ makeIterator: @escaping @Sendable () -> Iterator) {
        self.makeIterator = makeIterator
    }

    package func makeAsyncIterator() -> Iterator { makeIterator() }
}
