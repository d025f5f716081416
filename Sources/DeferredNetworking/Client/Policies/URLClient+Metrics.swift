extension URLClient {
    /// How long the parts of a request's last transfer took, and on which connection.
    ///
    /// Of ``Configuration/Engine/libcurl``, and of `URLSession` on Apple's platforms, where a redirected transfer counts
    /// from the last redirect.
    public struct Metrics: Sendable, Hashable {
        /// From the start of the transfer, in this and the next four, to the end of the name's look-up.
        public let nameLookup: Duration

        /// To the connection; zero on one that was there already.
        public let connect: Duration

        /// To the end of the TLS handshake; zero without one.
        public let tlsHandshake: Duration

        /// To the first byte of the response.
        public let firstByte: Duration

        /// To the end.
        public let total: Duration

        /// Whether it went over a connection that was there already.
        public let isReused: Bool

        /// The version of HTTP, such as "HTTP/2"; `nil` without a response.
        public let protocolVersion: String?

        /// The server's address, and its port.
        public let address: String
    }
}
