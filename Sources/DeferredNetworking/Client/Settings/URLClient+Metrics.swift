extension URLClient {
    /// The timings and the connection of a request's last transfer.
    ///
    /// Available with ``Configuration/Engine/libcurl``, and with `URLSession` on Apple's platforms, where a redirected
    /// transfer counts from the last redirect.
    public struct Metrics: Sendable, Hashable {
        /// The time from the start of the transfer until the host name was resolved.
        public let nameLookup: Duration

        /// The time from the start of the transfer until the connection was open; zero on a reused one.
        public let connect: Duration

        /// The time from the start of the transfer until the TLS handshake was complete; zero without one.
        public let tlsHandshake: Duration

        /// The time from the start of the transfer until the first byte of the response.
        public let firstByte: Duration

        /// The time from the start of the transfer until its end.
        public let total: Duration

        /// A Boolean value that indicates whether an existing connection was reused.
        public let isReused: Bool

        /// The version of HTTP, such as "HTTP/2"; `nil` without a response.
        public let protocolVersion: String?

        /// The server's address and port.
        public let address: String
    }
}
