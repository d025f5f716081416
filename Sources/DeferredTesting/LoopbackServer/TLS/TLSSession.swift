import DeferredNetworking
import Foundation

/// The settings shared by all TLS sessions of a server.
///
/// SAFETY: not changed once created; OpenSSL counts references to it atomically.
final class TLSContext: @unchecked Sendable {
    fileprivate let library: OpenSSL
    fileprivate let context: OpenSSL.Object

    init(_ tls: LoopbackServer.TLS) throws(LoopbackServer.StartError) {
        guard let library = OpenSSL.shared, let context = library.newContext(library.serverMethod()) else {
            throw LoopbackServer.StartError(.missing)
        }
        self.library = library
        self.context = context
        // SSL_CTRL_SET_MIN_PROTO_VERSION, and its counterpart below, override the system's configuration.
        _ = library.control(context, 123, 0x0303, nil)
        switch tls.maximumVersion {
        case nil: break
        case .v1_2: _ = library.control(context, 124, 0x0303, nil)
        case .v1_3: _ = library.control(context, 124, 0x0304, nil)
        }
        guard let certificate = library.certificate(tls.certificate.certificate) else {
            throw Self.unreadable("certificate")
        }
        defer { library.freeCertificate(certificate) }
        guard let key = library.key(tls.certificate.key) else { throw Self.unreadable("private key") }
        defer { library.freeKey(key) }
        guard library.useCertificate(context, certificate) == 1, library.useKey(context, key) == 1 else {
            throw Self.unreadable("pair of certificate and key")
        }
        guard let pem = tls.clientAuthority else { return }
        guard let authority = library.certificate(pem) else { throw Self.unreadable("authority of the clients") }
        defer { library.freeCertificate(authority) }
        _ = library.addToStore(library.certificateStore(context), authority)
        // SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT.
        library.setVerification(context, 3, nil)
        // Without one, such a server would refuse clients that resume a session.
        _ = library.setSessionContext(context, "Deferred", 8)
    }

    deinit { library.freeContext(context) }

    /// The number of sessions that clients have resumed: SSL_CTRL_SESS_HIT.
    var resumptionCount: Int { library.control(context, 27, 0, nil) }

    private static func unreadable(_ part: String) -> LoopbackServer.StartError {
        .init(LoopbackServer.TLSError(description: "OpenSSL cannot read the \(part) in PEM format"))
    }
}

/// The server's side of TLS on one connection, which decrypts received bytes and encrypts bytes to send.
///
/// It sends and receives nothing itself. Used by the one thread that serves the connection.
final class TLSSession {
    private let context: TLSContext
    private let session: OpenSSL.Object
    private let input: OpenSSL.Object
    private let output: OpenSSL.Object

    /// True once the peer has announced that it sends no more.
    private(set) var isClosedByPeer = false

    private var library: OpenSSL { context.library }

    init(_ context: TLSContext) throws(Disconnection) {
        let library = context.library
        guard let session = library.newSession(context.context) else { throw .insecure }
        guard let input = library.newBuffer(library.memory()), let output = library.newBuffer(library.memory()) else {
            library.freeSession(session)
            throw .insecure
        }
        // The session owns the buffers from here on.
        library.setBuffers(session, input, output)
        library.acceptState(session)
        self.context = context
        self.session = session
        self.input = input
        self.output = output
    }

    deinit { library.freeSession(session) }

    /// Decrypts received bytes. Even if it throws, ``takeOutput()`` may have something to send.
    func open(_ bytes: [UInt8]) throws(Disconnection) -> [UInt8] {
        library.append(bytes, to: input)
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            library.clearErrors()
            let count = library.read(session, &piece, Int32(piece.count))
            if count > 0 {
                result += piece[..<Int(count)]
                continue
            }
            switch library.sessionError(session, count) {
            case 2: return result  // SSL_ERROR_WANT_READ
            case 6:  // SSL_ERROR_ZERO_RETURN
                isClosedByPeer = true
                return result
            default:
                library.clearErrors()
                throw .insecure
            }
        }
    }

    /// Encrypts plain bytes. Returns the bytes to send.
    func seal(_ bytes: Data) throws(Disconnection) -> Data {
        guard !bytes.isEmpty else { return Data() }
        library.clearErrors()
        let count = bytes.withUnsafeBytes { library.write(session, $0.baseAddress, Int32($0.count)) }
        guard Int(count) == bytes.count else { throw .insecure }
        return takeOutput()
    }

    /// Returns the bytes that the protocol itself has to send, and removes them.
    func takeOutput() -> Data { library.contents(of: output) }

    /// Returns the alert that announces the end of the stream to the peer.
    func close() -> Data {
        library.clearErrors()
        _ = library.shutDown(session)
        return takeOutput()
    }
}
