extension StreamingResponse.Body {
    /// The body as lines of text, each as soon as it has ended.
    ///
    /// ```swift
    /// for try await line in response.body.lines {
    ///     handle(line)
    /// }
    /// ```
    ///
    /// A line ends with LF, CR or CRLF, which is not part of it, or with the body. Empty lines count. Bytes that are no UTF-8
    /// become U+FFFD. It throws what the body throws, and ``URLClientError/bodyTooLarge(limit:)`` for a line of more than
    /// 16 MiB.
    public var lines: Lines { Lines(body: self) }

    /// The lines of a body.
    public struct Lines: AsyncSequence, Sendable {
        /// A line, without its end.
        public typealias Element = String

        let body: StreamingResponse.Body

        /// Begins, or goes on, with the first bytes that nobody has read.
        public func makeAsyncIterator() -> Iterator { Iterator(pieces: body.makeAsyncIterator()) }

        /// Reads lines.
        public struct Iterator: AsyncIteratorProtocol {
            var pieces: StreamingResponse.Body.Iterator
            private var splitter = LineSplitter()
            private var hasEnded = false

            init(pieces: StreamingResponse.Body.Iterator) {
                self.pieces = pieces
            }

            /// The next line, or `nil` at the end.
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
