extension StreamingResponse.Body {
    /// The body as server-sent events, each as soon as it is complete.
    ///
    /// ```swift
    /// for try await event in response.body.serverSentEvents {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// The rules are those of the WHATWG's HTML standard, section 9.2, without connecting again: that is the caller's to do,
    /// with the last ``ServerSentEvent/lastEventID`` and ``ServerSentEvent/retry``. It throws what ``lines`` throws.
    public var serverSentEvents: ServerSentEvents { ServerSentEvents(body: self) }

    /// The events of a body.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// An event.
        public typealias Element = ServerSentEvent

        let body: StreamingResponse.Body

        /// Begins, or goes on, with the first bytes that nobody has read.
        public func makeAsyncIterator() -> Iterator { Iterator(lines: body.lines.makeAsyncIterator()) }

        /// Reads events.
        public struct Iterator: AsyncIteratorProtocol {
            private var lines: Lines.Iterator
            private var parser = ServerSentEventParser()

            init(lines: Lines.Iterator) {
                self.lines = lines
            }

            /// The next event, or `nil` at the end.
            public mutating func next() async throws -> ServerSentEvent? {
                while let line = try await lines.next() {
                    if let event = parser.parse(line) { return event }
                }
                return nil
            }
        }
    }
}
