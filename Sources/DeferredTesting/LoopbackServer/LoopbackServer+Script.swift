extension LoopbackServer {
    /// The steps that the server takes on a connection in answer to a request.
    ///
    /// Most scripts start from a response and change it; an array of ``Step`` expresses everything else. Scripts are
    /// values and are joined with `+`.
    ///
    /// ```swift
    /// let stalled: LoopbackServer.Script = .response(body: "Hel", contentLength: 5) + [.stall]
    /// let slow = LoopbackServer.Script.response(body: .pattern(count: 10_000))
    ///     .dripped(100, every: .milliseconds(1))
    ///     .delayed(by: .milliseconds(200))
    /// let nonsense: LoopbackServer.Script = [.send("HTTP/1.1 abc\r\n"), .pause(.seconds(1)), .reset]
    /// ```
    public struct Script: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// One action on a connection.
        ///
        /// All waits end when the server stops. When the peer closes its side during a wait, the script ends there and
        /// the connection is closed.
        public enum Step: Sendable, Hashable {
            /// Sends a payload as fast as the peer takes it.
            case send(Payload)

            /// Sends a payload in pieces of `size` bytes, with a wait between them in whole milliseconds, rounded up.
            case drip(Payload, size: Int = 1, every: Duration)

            /// Waits for a duration in whole milliseconds, rounded up.
            case pause(Duration)

            /// Reads that many bytes of the request's body, or the rest if that is shorter, and discards them.
            ///
            /// Useful in scripts from the initialiser's `beforeBody`; in others the body has been read already.
            case receive(Int)

            /// Sends the rest of the request's body back as it arrives, each piece as a chunk, and at its end the last chunk
            /// with the request's trailer fields.
            ///
            /// For a response with `Transfer-Encoding: chunked` in scripts from the initialiser's `beforeBody`, as
            /// ``Script/echo(headers:)`` is; in others the body has been read already.
            case echo

            /// Does nothing until the peer closes or the server stops. An upload of more than 64 KiB stalls as well.
            case stall

            /// Ends the script and closes the connection in an orderly way (FIN).
            case close

            /// Ends the script and resets the connection (RST) once the peer's system has received what was sent
            /// before.
            ///
            /// A peer whose system does not acknowledge the bytes within a second loses the rest.
            case reset
        }

        /// The steps, in the order in which they are played.
        public var steps: [Step]

        /// True if this is a well-formed response, which is sent to `HEAD` without its body.
        var isResponse = false

        /// Creates a script from its steps.
        public init(_ steps: [Step] = []) {
            self.steps = steps
        }

        /// Creates a script from its steps.
        public init(arrayLiteral elements: Step...) {
            self.init(elements)
        }

        /// Joins two scripts into one that plays them in turn.
        public static func + (first: Script, second: Script) -> Script {
            var script = Script(first.steps + second.steps)
            script.isResponse = first.isResponse || second.isResponse
            return script
        }
    }
}
