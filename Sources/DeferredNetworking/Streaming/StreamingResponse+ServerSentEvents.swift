extension StreamingResponse.Body {
    /// The body as server-sent events, each delivered as soon as it is complete.
    ///
    /// ```swift
    /// for try await event in response.body.serverSentEvents {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// The rules are those of the WHATWG HTML standard, section 9.2, except for reconnecting: that is up to the caller,
    /// with the last ``ServerSentEvent/lastEventID`` and ``ServerSentEvent/retry``. Throws the same errors as
    /// ``lines``.
    public var serverSentEvents: ServerSentEvents { ServerSentEvents(body: self) }

    /// The events of a body.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        let body: StreamingResponse.Body

        /// Returns an iterator that starts at the first unread bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(lines: body.lines.makeAsyncIterator()) }

        /// An iterator over the events of a body.
        public struct Iterator: AsyncIteratorProtocol {
            private var lines: Lines.Iterator
            private var parser = ServerSentEventParser()

            init(lines: Lines.Iterator) {
                self.lines = lines
            }

            /// Returns the next event, or `nil` at the end.
            public mutating func next() async throws -> ServerSentEvent? {
                while let line = try await lines.next() {
                    if let event = parser.parse(line) { return event }
                }
                return nil
            }
        }
    }
}
