extension LoopbackServer {
    /// An error thrown when a server cannot start.
    public struct StartError: Error, Sendable, CustomStringConvertible {
        /// The requested port; 0 stands for any.
        public let port: UInt16

        /// The system's error number, such as `EADDRINUSE`.
        public let code: Int32

        /// The port or the path, the error number and the system's text for it.
        public let description: String

        init(port: UInt16, path: String? = nil, _ error: SystemError) {
            self.port = port
            code = error.code
            description =
                "LoopbackServer can't listen \(path.map { "at \($0)" } ?? "on 127.0.0.1, port \(port)"): \(error)"
        }

        init(port: UInt16, _ error: TLSError) {
            self.port = port
            code = SystemError.unsupported.code
            description = "LoopbackServer can't speak TLS: \(error)"
        }
    }
}
