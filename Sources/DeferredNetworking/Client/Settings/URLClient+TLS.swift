public import Foundation

extension URLClient {
    /// The trusted certificate authorities and the client's own certificate.
    ///
    /// ```swift
    /// var configuration = URLClient.Configuration()
    /// configuration.tls.authorities = .file(URL(filePath: "/etc/company/ca.pem"))
    /// ```
    ///
    /// Available over libcurl, and over `URLSession` on Apple's platforms. There, App Transport Security may require more, and a file that can't be read fails each request with
    /// ``URLClientError/Code/engineUnavailable(reason:)``. A request to a server that isn't trusted fails with
    /// `URLError.serverCertificateUntrusted` or a more precise code.
    ///
    /// Over libcurl, a new connection resumes the TLS session of an earlier one where the server allows it. A session
    /// belongs to one client and one of its threads, and ends with them.
    public struct TLS: Sendable, Hashable {
        /// The certificate authorities that the client trusts.
        public enum Authorities: Sendable, Hashable {
            /// The authorities that the system trusts.
            case system

            /// Only those in a file in PEM format. Connections fail if it can't be read.
            case file(URL)

            /// Only these, in PEM format. With libcurl, this requires version 7.77 or later.
            case data(Data)
        }

        /// A certificate by which the client identifies itself to servers that ask for one.
        public struct ClientCertificate: Sendable, Hashable {
            let certificate: URL
            let key: URL
            let password: String?
            /// True if both are in one file in PKCS#12 format.
            let isArchive: Bool

            /// Creates a certificate from files in PEM format. Only for libcurl.
            ///
            /// - Parameters:
            ///   - certificate: The file of the certificate.
            ///   - key: The file of the private key.
            ///   - password: The password of the key, if it has one. Nobody is asked for one that is missing.
            public init(certificate: URL, key: URL, password: String? = nil) {
                self.certificate = certificate
                self.key = key
                self.password = password
                isArchive = false
            }

            /// Creates a certificate from a file in PKCS#12 format, which contains the private key and the issuing
            /// certificates.
            ///
            /// Only for `URLSession` on Apple's platforms. `openssl pkcs12 -export` creates such a
            /// file from files in PEM format.
            public init(pkcs12 file: URL, password: String) {
                certificate = file
                key = file
                self.password = password
                isArchive = true
            }
        }

        /// A version of TLS.
        public enum Version: Sendable, Hashable {
            /// TLS 1.2, RFC 5246.
            case v1_2

            /// TLS 1.3, RFC 8446.
            case v1_3
        }

        /// The certificate authorities that the client trusts.
        public var authorities = Authorities.system

        /// The certificate for servers that ask for one; `nil` for none.
        public var clientCertificate: ClientCertificate?

        /// The SHA-256 digests of the accepted public keys, as `SubjectPublicKeyInfo` in DER; a server must have one of
        /// them. Empty to accept any key.
        public var pinnedPublicKeys: Set<Data> = []

        /// The oldest version that is accepted; `nil` for the TLS library's default.
        public var minimumVersion: Version?

        /// Creates settings that leave everything to the system.
        public init() {}
    }

    /// The proxy that requests go through. Only for libcurl.
    public enum Proxy: Sendable, Hashable {
        /// The proxy that the environment variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name when
        /// the client is created.
        case environment

        /// No proxy, whatever the environment says.
        case none

        /// A proxy for everything, whatever the environment says, such as `http://user:password@host:3128` or
        /// `socks5h://host`. A URL that is none of a proxy fails each request with
        /// ``URLClientError/Code/engineUnavailable(reason:)``.
        case server(URL)
    }

    /// A version of HTTP.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/1.1, RFC 9112.
        case http1_1

        /// HTTP/2, RFC 9113; without TLS, with prior knowledge. If the server answers in another version, the request
        /// fails.
        case http2
    }
}

extension URLClient.TLS.ClientCertificate: CustomReflectable {
    /// The paths of the files, without the password.
    public var customMirror: Mirror { Mirror(self, children: ["certificate": certificate, "key": key]) }
}

extension URLClient.Proxy: CustomStringConvertible, CustomReflectable {
    /// One line, without a user name and a password.
    public var description: String {
        switch self {
        case .environment: "environment"
        case .none: "none"
        case .server(let url): "server(\(DisplayText.quoted(Redaction.proxy(url))))"
        }
    }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["proxy": description]) }
}
