extension HTTPBodyStream {
    /// The body as lines of text, each delivered as soon as it is complete.
    ///
    /// ```swift
    /// for try await line in response.body.lines {
    ///     handle(line)
    /// }
    /// ```
    ///
    /// A line ends with LF, CR or CRLF, which is not part of it, or with the body. Empty lines are included. Bytes that are
    /// not valid UTF-8 become U+FFFD. Throws the errors of the body, and ``URLClientError/lineTooLong(limit:)`` for a line of
    /// more than 16 MiB.
    public var lines: Lines { lines(upTo: 16 << 20) }

    /// The body as lines of text of a limited length. See ``lines``.
    ///
    /// - Parameter limit: The most bytes of a line, without its terminator. A longer one throws
    ///   ``URLClientError/lineTooLong(limit:)`` as soon as so many bytes have come.
    public func lines(upTo limit: Int) -> Lines { Lines(stream: self, limit: limit) }

    /// The lines of a body.
    public struct Lines: AsyncSequence, Sendable {
        /// A line, without its terminator.
        public typealias Element = String

        let stream: HTTPBodyStream
        let limit: Int

        /// Returns an iterator that starts at the first unread bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(pieces: stream.makeAsyncIterator(), limit: limit) }

        /// An iterator over the lines of a body.
        public struct Iterator: AsyncIteratorProtocol {
            private var pieces: HTTPBodyStream.Iterator
            private var splitter: LineSplitter
            private var hasEnded = false

            init(pieces: HTTPBodyStream.Iterator, limit: Int) {
                self.pieces = pieces
                splitter = LineSplitter(limit: limit)
            }

            /// Returns the next line, or `nil` at the end.
            public mutating func next() async throws -> String? {
                while true {
                    if let line = try splitter.next() { return line }
                    guard !hasEnded else { return nil }
                    guard let piece = try await pieces.next() else {
                        hasEnded = true
                        return splitter.rest()
                    }
                    splitter.append(piece)
                }
            }
        }
    }
}
