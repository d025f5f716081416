public import Foundation

extension LoopbackServer {
    /// The TLS settings of a server: its identity, and the clients it accepts.
    public struct TLS: Sendable, Hashable {
        /// A version of the protocol.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, RFC 5246.
            case v1_2

            /// TLS 1.3, RFC 8446.
            case v1_3
        }

        /// The certificate that the server presents.
        public var certificate: Certificate

        /// The authority that must have issued a client's certificate, in PEM format; `nil` to ask clients for none.
        public var clientAuthority: Data?

        /// The newest version that the server accepts; `nil` for the default of OpenSSL.
        public var maximumVersion: Version?

        /// Creates settings.
        public init(
            _ certificate: Certificate,
            clientAuthority: Data? = nil,
            maximumVersion: Version? = nil
        ) {
            self.certificate = certificate
            self.clientAuthority = clientAuthority
            self.maximumVersion = maximumVersion
        }
    }

    /// A Boolean value that indicates whether servers can use TLS: on Linux, where OpenSSL's `libssl` is installed.
    public static var canDoTLS: Bool { OpenSSL.shared != nil }
}
