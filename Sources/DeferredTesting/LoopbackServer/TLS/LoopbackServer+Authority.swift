internal import DeferredNetworking
public import Foundation

extension LoopbackServer {
    /// A certificate with its private key: the identity of a server or a client.
    public struct Certificate: Sendable, Hashable {
        /// The certificate in PEM format.
        public let certificate: Data

        /// Its private key in PEM format.
        public let key: Data

        /// The SHA-256 digest of the public key, as `SubjectPublicKeyInfo` in DER, which clients pin.
        public let publicKeyDigest: Data
    }

    /// An authority that issues certificates for tests, created in memory.
    ///
    /// ```swift
    /// let authority = try LoopbackServer.Authority()
    /// let server = try LoopbackServer(tls: .init(authority.issue())) { _ in .response(body: "Hello") }
    /// configuration.tls.authorities = .data(authority.certificate)
    /// ```
    ///
    /// Where ``LoopbackServer/canDoTLS`` is false, creating one throws ``TLSError``.
    public struct Authority: Sendable {
        private let identity: Certificate

        /// The authority's own certificate in PEM format, for peers that should trust it.
        public var certificate: Data { identity.certificate }

        /// Creates an authority with a new key, which is valid for a day.
        ///
        /// - Parameter name: The common name.
        public init(name: String = "Authority for tests") throws(TLSError) {
            identity = try CertificateMaker().make(name: name, hosts: [], lifetime: .seconds(86_400), issuer: nil)
        }

        /// Issues a certificate with a new key, for a server or a client.
        ///
        /// - Parameters:
        ///   - hosts: Names and addresses of the server. The first one is the common name, too.
        ///   - lifetime: The time until it expires, in whole seconds. If it isn't positive, the certificate has already
        ///     expired.
        public func issue(
            to hosts: [String] = ["127.0.0.1", "localhost"],
            lifetime: Duration = .seconds(86_400)
        ) throws(TLSError) -> Certificate {
            try CertificateMaker().make(name: hosts.first ?? "", hosts: hosts, lifetime: lifetime, issuer: identity)
        }
    }

    /// The error that is thrown when TLS is not available.
    public struct TLSError: Error, Sendable, CustomStringConvertible {
        /// One line for a log.
        public let description: String

        static let missing = TLSError(description: "TLS needs Linux with libssl.so.3 or libssl.so.1.1 installed")
    }
}

/// Creates certificates with OpenSSL: version 3 of X.509, keys on the curve P-256.
private struct CertificateMaker {
    typealias TLSError = LoopbackServer.TLSError

    private let library: OpenSSL

    init() throws(TLSError) {
        guard let library = OpenSSL.shared else { throw .missing }
        self.library = library
    }

    /// - Parameters:
    ///   - hosts: Empty for an authority.
    ///   - issuer: `nil` for a certificate that is signed by its own key.
    func make(
        name: String,
        hosts: [String],
        lifetime: Duration,
        issuer: LoopbackServer.Certificate?
    ) throws(TLSError) -> LoopbackServer.Certificate {
        guard let key = makeKey(), let certificate = library.newCertificate() else { throw failure("a key") }
        defer {
            library.freeKey(key)
            library.freeCertificate(certificate)
        }
        let now = lifetime > .zero ? -3_600 : min(-3_600, Int(lifetime.components.seconds) - 1)
        _ = library.setVersion(certificate, 2)
        _ = library.setInteger(library.serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
        _ = library.setTime(library.beginning(certificate), now)
        _ = library.setTime(library.end(certificate), Int(lifetime.components.seconds))
        _ = library.setKey(certificate, key)
        let text = Data(name.utf8)
        let isNamed = text.withUnsafeBytes {
            library.addName(library.subject(certificate), "CN", 0x1000, $0.baseAddress, Int32($0.count), -1, 0)
        }
        guard isNamed == 1 else { throw failure("the name \(name)") }
        try add("basicConstraints", hosts.isEmpty ? "critical,CA:TRUE" : "critical,CA:FALSE", to: certificate)
        if !hosts.isEmpty {
            let names = hosts.map { $0.allSatisfy { $0.isHexDigit || ".:".contains($0) } ? "IP:" + $0 : "DNS:" + $0 }
            try add("subjectAltName", names.joined(separator: ","), to: certificate)
        }
        try sign(certificate, key, by: issuer)
        guard let text = library.written({ library.writeCertificate($0, certificate) }),
            let secret = library.written({ library.writeKey($0, key, nil, nil, 0, nil, nil) }),
            let info = library.written({ library.writePublicKey($0, key) })
        else { throw failure("the text of a certificate") }
        return LoopbackServer.Certificate(certificate: text, key: secret, publicKeyDigest: Data(SHA256.hash(info)))
    }

    private func makeKey() -> OpenSSL.Object? {
        // EVP_PKEY_EC.
        guard let context = library.newKeyContext(408, nil) else { return nil }
        defer { library.freeKeyContext(context) }
        var key: OpenSSL.Object?
        guard library.beginKeys(context) == 1, library.controlKeys(context, "ec_paramgen_curve", "P-256") == 1,
            library.controlKeys(context, "ec_param_enc", "named_curve") == 1, library.makeKey(context, &key) == 1
        else { return nil }
        return key
    }

    private func add(_ name: String, _ value: String, to certificate: OpenSSL.Object) throws(TLSError) {
        guard let part = library.makeExtension(nil, nil, name, value) else { throw failure("\(name) = \(value)") }
        _ = library.addExtension(certificate, part, -1)
        library.freeExtension(part)
    }

    private func sign(
        _ certificate: OpenSSL.Object,
        _ key: OpenSSL.Object,
        by issuer: LoopbackServer.Certificate?
    ) throws(TLSError) {
        guard let issuer else { return try sign(certificate, key, as: certificate) }
        guard let authority = library.certificate(issuer.certificate) else { throw failure("an authority") }
        defer { library.freeCertificate(authority) }
        guard let authorityKey = library.key(issuer.key) else { throw failure("an authority's key") }
        defer { library.freeKey(authorityKey) }
        try sign(certificate, authorityKey, as: authority)
    }

    private func sign(
        _ certificate: OpenSSL.Object,
        _ key: OpenSSL.Object,
        as issuer: OpenSSL.Object
    ) throws(TLSError) {
        _ = library.setIssuer(certificate, library.subject(issuer))
        guard library.sign(certificate, key, library.sha256()) > 0 else { throw failure("a signature") }
    }

    private func failure(_ part: String) -> TLSError {
        library.clearErrors()
        return TLSError(description: "OpenSSL can't make \(part)")
    }
}
