#if os(Linux)
import CLibcurl
import Foundation

/// libcurl's options for the TLS of connections to servers, or for that of connections to proxies.
struct LibcurlTLS {
    static let servers = LibcurlTLS(
        authorities: CURLOPT_CAINFO,
        folder: CURLOPT_CAPATH,
        data: CURLOPT_CAINFO_BLOB,
        certificate: CURLOPT_SSLCERT,
        key: CURLOPT_SSLKEY,
        password: CURLOPT_KEYPASSWD,
        pins: CURLOPT_PINNEDPUBLICKEY,
        version: CURLOPT_SSLVERSION
    )
    static let proxies = LibcurlTLS(
        authorities: CURLOPT_PROXY_CAINFO,
        folder: CURLOPT_PROXY_CAPATH,
        data: CURLOPT_PROXY_CAINFO_BLOB,
        certificate: CURLOPT_PROXY_SSLCERT,
        key: CURLOPT_PROXY_SSLKEY,
        password: CURLOPT_PROXY_KEYPASSWD,
        pins: CURLOPT_PROXY_PINNEDPUBLICKEY,
        version: CURLOPT_PROXY_SSLVERSION
    )

    let authorities: Int
    let folder: Int
    let data: Int
    let certificate: Int
    let key: Int
    let password: Int
    let pins: Int
    let version: Int

    /// Sets the options of a handle.
    ///
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` for a setting that this libcurl, or its TLS library, doesn't
    ///   know: without it, more would be trusted than the caller allows.
    func set(
        _ tls: URLClient.TLS,
        systemAuthorities: String?,
        on easy: libcurl_easy
    ) throws(URLClientError) {
        func set(_ option: Int, to value: String?, or refusal: String = "") throws(URLClientError) {
            guard libcurl_easy_set_pointer(easy, Int32(option), value) != 0, !refusal.isEmpty else { return }
            throw Self.unknown(refusal)
        }
        switch tls.authorities {
        case .system:
            if let systemAuthorities { try set(authorities, to: systemAuthorities) }
        case .file(let file):
            try set(authorities, to: file.path, or: "files of authorities")
            // Otherwise, the system's authorities would be trusted as well.
            try set(folder, to: nil)
        case .data(let pem):
            try set(folder, to: nil)
            let code = pem.withUnsafeBytes { libcurl_easy_set_blob(easy, Int32(data), $0.baseAddress, $0.count) }
            if code != 0 { throw Self.unknown("authorities in memory", "; use a file, or libcurl 7.77 or later") }
        }
        if let identity = tls.clientCertificate {
            try set(certificate, to: identity.certificate.path, or: "client certificates")
            try set(key, to: identity.key.path, or: "client certificates")
            // Without a password, OpenSSL would ask for one: at the terminal or on the standard input, on this thread.
            try set(password, to: identity.password ?? "")
        }
        if !tls.pinnedPublicKeys.isEmpty {
            let texts = tls.pinnedPublicKeys.map { "sha256//" + $0.base64EncodedString() }.sorted()
            try set(pins, to: texts.joined(separator: ";"), or: "pinned public keys")
        }
        let number: Int? =
            switch tls.minimumVersion {
            case nil: nil
            case .v1_2: CURL_SSLVERSION_TLSv1_2
            case .v1_3: CURL_SSLVERSION_TLSv1_3
            }
        guard let number, libcurl_easy_set_long(easy, Int32(version), number) != 0 else { return }
        throw Self.unknown("minimum versions")
    }

    private static func unknown(_ setting: String, _ remedy: String = "") -> URLClientError {
        .engineUnavailable(reason: "libcurl \(LibcurlEngine.version), as it is here, has no \(setting)\(remedy)")
    }
}

/// The TLS sessions of an engine's connections on one thread, by which later connections spare most of their handshakes:
/// RFC 8446, section 2.2, and RFC 5077. They end with the last handle that uses them.
final class LibcurlSessions {
    private let share: libcurl_share

    /// - Returns: nil if no memory is available.
    init?() {
        guard let share = libcurl_share_create() else { return nil }
        self.share = share
    }

    deinit { libcurl_share_destroy(share) }

    func serve(_ easy: libcurl_easy) {
        libcurl_easy_set_pointer(easy, Int32(CURLOPT_SHARE), UnsafeRawPointer(share))
    }
}
#endif
