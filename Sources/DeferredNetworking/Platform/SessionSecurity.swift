import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(Security)
import CryptoKit
import Dispatch
import Security
#endif

/// The authorities and pins that the library's own sessions trust, and their identity, where that isn't left to the
/// system.
///
/// swift-corelibs-foundation has no challenges about TLS, so this is not available there: see ``ChallengeHandling``.
/// Tests: `SessionSecurityTests`.
// SAFETY: certificates and identities never change; not every SDK says that they may be used on any thread.
struct SessionSecurity: @unchecked Sendable {
    #if canImport(Security)
    static let isAvailable = true

    /// Evaluating trust may wait for the network.
    private static let queue = DispatchQueue(label: "Deferred.server-trust", attributes: .concurrent)

    private let authorities: [SecCertificate]?
    private let pins: Set<Data>
    private let identity: (SecIdentity, issuers: [SecCertificate])?

    /// - Returns: nil when all is left to the system.
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` for files that can't be read.
    init?(_ tls: URLClient.TLS) throws(URLClientError) {
        if tls.authorities == .system, tls.pinnedPublicKeys.isEmpty, tls.clientCertificate == nil { return nil }
        authorities = try Self.certificates(of: tls.authorities)
        pins = tls.pinnedPublicKeys
        identity = try tls.clientCertificate.map { certificate throws(URLClientError) in try Self.identity(certificate)
        }
    }

    static func setMinimumVersion(of tls: URLClient.TLS, in configuration: URLSessionConfiguration) {
        switch tls.minimumVersion {
        case nil: break
        case .v1_2: configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        case .v1_3: configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
        }
    }

    /// Answers a challenge that these settings are about, and returns true; does nothing with another one.
    ///
    /// - Parameter refuse: Called before a refusal is answered, since the platform's only error for it is that of a
    ///   cancellation.
    func meet(
        _ challenge: URLAuthenticationChallenge,
        answer: @escaping ChallengeAnswer,
        refuse: @escaping @Sendable (URLError) -> Void
    ) -> Bool {
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust where authorities != nil || !pins.isEmpty:
            Self.queue.async {
                guard let trust = challenge.protectionSpace.serverTrust else {
                    return answer(.performDefaultHandling, nil)
                }
                if let refusal = refusal(of: trust) {
                    refuse(refusal)
                    answer(.cancelAuthenticationChallenge, nil)
                } else {
                    answer(.useCredential, URLCredential(trust: trust))
                }
            }
        case NSURLAuthenticationMethodClientCertificate:
            guard let (own, issuers) = identity else { return false }
            answer(.useCredential, URLCredential(identity: own, certificates: issuers, persistence: .forSession))
        default:
            return false
        }
        return true
    }

    private func refusal(of trust: SecTrust) -> URLError? {
        if let authorities {
            SecTrustSetAnchorCertificates(trust, NSArray(array: authorities) as CFArray)
            SecTrustSetAnchorCertificatesOnly(trust, true)
        }
        var error: CFError?
        guard SecTrustEvaluateWithError(trust, &error) else {
            let reason = error.map { ($0 as any Error).localizedDescription }
            let code = Self.code(of: error.map { OSStatus(truncatingIfNeeded: CFErrorGetCode($0)) } ?? errSecNotTrusted)
            return URLError(code, failing: nil, description: reason ?? "The server's certificate is not trusted")
        }
        guard !pins.isEmpty else { return nil }
        guard let chain = SecTrustCopyCertificateChain(trust), CFArrayGetCount(chain) > 0,
            let leaf = CFArrayGetValueAtIndex(chain, 0)
        else { return URLError(.serverCertificateUntrusted, failing: nil) }
        let certificate = SecCertificateCopyData(Unmanaged<SecCertificate>.fromOpaque(leaf).takeUnretainedValue())
        let key = SubjectPublicKeyInfo.of(certificate: Data(referencing: certificate as NSData))
        guard let key, pins.contains(Data(CryptoKit.SHA256.hash(data: key))) else {
            return URLError(
                .serverCertificateUntrusted,
                failing: nil,
                description: "The server's public key matches none of the pinned keys"
            )
        }
        return nil
    }

    private static func code(of status: OSStatus) -> URLError.Code {
        switch status {
        case errSecCertificateExpired: .serverCertificateHasBadDate
        case errSecCertificateNotValidYet: .serverCertificateNotYetValid
        default: .serverCertificateUntrusted
        }
    }

    private static func certificates(of authorities: URLClient.TLS.Authorities) throws(URLClientError)
        -> [SecCertificate]?
    {
        let text: Data?
        let name: String
        switch authorities {
        case .system: return nil
        case .data(let data): (text, name) = (data, "in memory")
        case .file(let file): (text, name) = (try? Data(contentsOf: file), DisplayText.quoted(file.path))
        }
        let blocks = text.flatMap { PEM.blocks("CERTIFICATE", in: $0) } ?? []
        let certificates = blocks.compactMap { SecCertificateCreateWithData(nil, NSData(data: $0) as CFData) }
        guard !certificates.isEmpty, certificates.count == blocks.count else {
            throw .engineUnavailable(reason: "the authorities \(name) cannot be read; use certificates in PEM format")
        }
        return certificates
    }

    private static func identity(_ certificate: URLClient.TLS.ClientCertificate) throws(URLClientError)
        -> (SecIdentity, issuers: [SecCertificate])
    {
        let path = DisplayText.quoted(certificate.certificate.path)
        guard certificate.isArchive else {
            throw .engineUnavailable(
                reason:
                    "the client certificate \(path) is in PEM format; convert it to PKCS#12, which this system reads"
            )
        }
        let options = NSMutableDictionary()
        options[kSecImportExportPassphrase as NSString] = certificate.password ?? ""
        // Otherwise it would be put into the user's keychain on macOS.
        options[kSecImportToMemoryOnly as NSString] = true
        var items: CFArray?
        guard let data = try? Data(contentsOf: certificate.certificate),
            SecPKCS12Import(NSData(data: data) as CFData, options as CFDictionary, &items) == errSecSuccess,
            let item = (items as NSArray?)?.firstObject as? NSDictionary,
            let identity = item[kSecImportItemIdentity as NSString] as CFTypeRef?,
            CFGetTypeID(identity) == SecIdentityGetTypeID()
        else {
            throw .engineUnavailable(
                reason: "the client certificate \(path) can't be read with its password, or isn't in PKCS#12 format"
            )
        }
        let chain = item[kSecImportItemCertChain as NSString] as? [SecCertificate] ?? []
        return (identity as! SecIdentity, Array(chain.dropFirst()))
    }
    #else
    static let isAvailable = false

    init?(_ tls: URLClient.TLS) throws(URLClientError) { return nil }

    static func setMinimumVersion(of tls: URLClient.TLS, in configuration: URLSessionConfiguration) {}

    func meet(
        _ challenge: URLAuthenticationChallenge,
        answer: @escaping ChallengeAnswer,
        refuse: @escaping @Sendable (URLError) -> Void
    ) -> Bool { false }
    #endif
}
