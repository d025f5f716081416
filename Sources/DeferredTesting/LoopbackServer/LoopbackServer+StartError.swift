import Foundation

extension LoopbackServer {
    /// An error thrown when a server cannot start.
    public struct StartError: Error, Sendable, CustomStringConvertible {
        /// The system's error number, such as `EADDRINUSE`.
        public let code: Int32

        /// The port or the path, the error number and the system's text for it.
        public let description: String

        init(at address: SocketAddress, _ error: SystemError) {
            code = error.code
            let place =
                switch address {
                case .port(let port): "on 127.0.0.1, port \(port)"
                case .portOverIPv6: "on [::1]"
                case .path(let path): "at \(path)"
                }
            description = "LoopbackServer can't listen \(place): \(error)"
        }

        init(_ error: TLSError) {
            code = ENOTSUP
            description = "LoopbackServer can't speak TLS: \(error)"
        }
    }
}
