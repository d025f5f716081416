public import DeferredNetworking
public import Foundation

extension LoopbackServer {
    /// The TLS settings of a server: its identity, and the clients it accepts.
    public struct TLS: Sendable, Hashable {
        package var certificate: Certificate
        package var clientAuthority: Data?
        package var maximumVersion: URLClient.TLS.Version?

        /// Creates settings.
        ///
        /// - Parameters:
        ///   - certificate: The certificate that the server presents.
        ///   - clientAuthority: The authority that must have issued a client's certificate, in PEM format; `nil` to ask clients
        ///     for none.
        ///   - maximumVersion: The newest version that the server accepts; `nil` for the default of OpenSSL.
        public init(
            _ certificate: Certificate,
            clientAuthority: Data? = nil,
            maximumVersion: URLClient.TLS.Version? = nil
        ) {
            self.certificate = certificate
            self.clientAuthority = clientAuthority
            self.maximumVersion = maximumVersion
        }
    }

    /// A Boolean value that indicates whether servers can use TLS: on Linux, where OpenSSL's `libssl` is installed.
    public static var canDoTLS: Bool { OpenSSL.shared != nil }
}
