extension HTTPBodyStream {
    /// The body as server-sent events, each delivered as soon as it is complete.
    ///
    /// ```swift
    /// for try await event in response.body.serverSentEvents {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// The rules are those of the WHATWG HTML standard, section 9.2, except for reconnecting: that is up to the caller,
    /// with the last ``ServerSentEvent/lastEventID`` and ``ServerSentEvent/retry``, or to the events of a chain. Throws the
    /// same errors as ``lines``, also ``URLClientError/Code/lineTooLong(limit:)`` for an event of more than 16 MiB.
    public var serverSentEvents: HTTPSequence<ServerSentEvent, any Error> {
        HTTPSequence { ServerSentEventIterator(self, after: "") }
    }
}

/// Reads the events of a body.
package struct ServerSentEventIterator: AsyncIteratorProtocol {
    private var lines: LineIterator
    private var parser: ServerSentEventParser

    /// - Parameter lastEventID: The last event ID of the stream that this one continues.
    package init(_ stream: HTTPBodyStream, after lastEventID: String) {
        lines = LineIterator(stream.makeAsyncIterator(), upTo: LineIterator.standardLimit, takesRest: false)
        parser = ServerSentEventParser(lastEventID: lastEventID)
    }

    /// The last event ID so far, whether an event had it or not.
    package var lastEventID: String { parser.lastEventID }

    /// The time to wait before reconnecting, if the server has specified one.
    package var retry: Duration? { parser.retry }

    package mutating func next() async throws -> ServerSentEvent? {
        while let line = try await lines.next() {
            if let event = parser.parse(line) { return event }
            // A server that never ends an event must not fill the memory.
            guard parser.pendingSize <= LineIterator.standardLimit else {
                throw URLClientError.lineTooLong(limit: LineIterator.standardLimit)
            }
        }
        return nil
    }
}
