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
    /// not valid UTF-8 become U+FFFD. Throws the errors of the body, and ``URLClientError/Code/lineTooLong(limit:)`` for a line of
    /// more than 16 MiB.
    public var lines: HTTPSequence<String, any Error> { lines(upTo: LineIterator.standardLimit) }

    /// The body as lines of text of a limited length. See ``lines``.
    ///
    /// - Parameter limit: The most bytes of a line, without its terminator. A longer one throws
    ///   ``URLClientError/Code/lineTooLong(limit:)`` as soon as so many bytes have come.
    public func lines(upTo limit: Int) -> HTTPSequence<String, any Error> {
        HTTPSequence { LineIterator(makeAsyncIterator(), upTo: limit) }
    }
}

/// Reads the lines of a body.
package struct LineIterator: AsyncIteratorProtocol {
    static let standardLimit = 16 << 20

    private var pieces: HTTPBodyStream.Iterator
    private var splitter: LineSplitter
    /// True once the body has ended. The line that was returned then has no terminator.
    package private(set) var hasEnded = false

    /// False if a line counts only with its terminator.
    private let takesRest: Bool

    package init(_ pieces: HTTPBodyStream.Iterator, upTo limit: Int, takesRest: Bool = true) {
        self.pieces = pieces
        self.takesRest = takesRest
        splitter = LineSplitter(limit: limit)
    }

    package mutating func next() async throws -> String? {
        while true {
            if let line = try splitter.next() { return line }
            guard !hasEnded else { return nil }
            guard let piece = try await pieces.next() else {
                hasEnded = true
                return takesRest ? splitter.rest() : nil
            }
            splitter.append(piece)
        }
    }
}
