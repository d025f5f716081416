/// Values that come over time: the lines or events of a body, the pages of a list.
///
/// ```swift
/// for try await event in chain.events(of: request) { show(event) }
/// let titles = chain.pages(of: request).map { try $0.decode(Page.self).title }
/// ```
///
/// What its iterators have in common, such as a request for each or the bytes of one body, is said where it is returned.
public struct HTTPSequence<Element, Failure: Error>: AsyncSequence, Sendable {
    private let makeIterator: @Sendable () -> any AsyncIteratorProtocol<Element, Failure>

    package init(_ makeIterator: @escaping @Sendable () -> any AsyncIteratorProtocol<Element, Failure>) {
        self.makeIterator = makeIterator
    }

    /// Returns an iterator, which begins its work with the first value.
    public func makeAsyncIterator() -> Iterator { Iterator(base: makeIterator()) }

    /// An iterator over the values.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: any AsyncIteratorProtocol<Element, Failure>

        /// Returns the next value, or `nil` at the end.
        public mutating func next() async throws(Failure) -> Element? { try await base.next(isolation: #isolation) }
    }
}
