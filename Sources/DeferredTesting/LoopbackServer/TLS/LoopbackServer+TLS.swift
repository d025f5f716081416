public import Foundation

extension LoopbackServer {
    /// Who a server is, and whom it lets in.
    public struct TLS: Sendable, Hashable {
        /// A version of the protocol.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, RFC 5246.
            case v1_2

            /// TLS 1.3, RFC 8446.
            case v1_3
        }

        /// What the server shows.
        public var certificate: Certificate

        /// Who has to have issued a client's certificate, in PEM format; `nil` to ask clients for none.
        public var clientAuthority: Data?

        /// The newest version that is spoken; `nil` for the library's own choice.
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

    /// Whether servers can speak TLS here: on Linux, where OpenSSL's `libssl` is installed.
    public static var canDoTLS: Bool { OpenSSL.shared != nil }
}
