public import Foundation

extension URLClient {
    /// Whom a client trusts, and who it is itself. Only for ``Configuration/Engine/libcurl``.
    ///
    /// ```swift
    /// var configuration = URLClient.Configuration()
    /// configuration.engine = .libcurl
    /// configuration.tls.authorities = .file(URL(filePath: "/etc/company/ca.pem"))
    /// ```
    public struct TLS: Sendable, Hashable {
        /// The authorities that a server's certificate may come from.
        public enum Authorities: Sendable, Hashable {
            /// Those of the system.
            case system

            /// Only those in a file in PEM format. A connection fails if it can't be read.
            case file(URL)

            /// Only these, in PEM format. It takes libcurl 7.77 or later.
            case data(Data)
        }

        /// What the client shows to servers that ask who it is.
        public struct ClientCertificate: Sendable, Hashable {
            /// A file in PEM format.
            public var certificate: URL

            /// Its private key, in PEM format.
            public var key: URL

            /// The password of the key, if it has one.
            public var password: String?

            /// Creates a certificate from its files.
            public init(certificate: URL, key: URL, password: String? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
            }
        }

        /// A version of the protocol.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, RFC 5246.
            case v1_2

            /// TLS 1.3, RFC 8446.
            case v1_3
        }

        /// The authorities that a server's certificate may come from.
        public var authorities = Authorities.system

        /// What the client shows to servers that ask who it is.
        public var clientCertificate: ClientCertificate?

        /// The SHA-256 digests of the public keys, as `SubjectPublicKeyInfo` in DER, one of which a server must have;
        /// empty for any.
        public var pinnedPublicKeys: Set<Data> = []

        /// The oldest version that is spoken; `nil` for the library's own choice.
        public var minimumVersion: Version?

        /// Creates settings that leave everything to the system.
        public init() {}
    }

    /// What requests go through on their way. Only for ``Configuration/Engine/libcurl``.
    public enum Proxy: Sendable, Hashable {
        /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` of the environment say: the
        /// default.
        case environment

        /// Nothing, whatever the environment says.
        case none

        /// A proxy for everything, such as `http://user:password@host:3128` or `socks5h://host`.
        case server(URL)
    }

    /// A version of HTTP.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/1.1, RFC 9112.
        case http1_1

        /// HTTP/2, RFC 9113; without TLS, it is taken for granted. A server that answers otherwise fails the request.
        case http2
    }
}

extension URLClient.TLS.ClientCertificate: CustomReflectable {
    /// The files; not the password.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate, "key": key]) }
}

extension URLClient.Proxy: CustomStringConvertible, CustomReflectable {
    /// One line, without a user name and a password.
    public var description: String {
        switch self {
        case .environment: "environment"
        case .none: "none"
        case .server(let url): "server(\(DisplayText.quoted(url)))"
        }
    }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}
