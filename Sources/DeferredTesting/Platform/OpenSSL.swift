import Foundation

/// Functions of OpenSSL 1.1.1 and 3, looked up at run time in the system's library, so that no target has to link it.
///
/// None of them is variadic, which Swift couldn't call.
///
/// SAFETY: addresses of functions, all of them constant.
struct OpenSSL: @unchecked Sendable {
    typealias Object = OpaquePointer
    typealias Bytes = UnsafeRawPointer

    /// `nil` if the library is not installed.
    static let shared = library.map { _ in OpenSSL() }

    // MARK: Sessions

    let serverMethod: @convention(c) () -> Object? = Self.find("TLS_server_method")
    let newContext: @convention(c) (Object?) -> Object? = Self.find("SSL_CTX_new")
    let freeContext: @convention(c) (Object?) -> Void = Self.find("SSL_CTX_free")
    let control: @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int = Self.find("SSL_CTX_ctrl")
    let useCertificate: @convention(c) (Object?, Object?) -> Int32 = Self.find("SSL_CTX_use_certificate")
    let useKey: @convention(c) (Object?, Object?) -> Int32 = Self.find("SSL_CTX_use_PrivateKey")
    let certificateStore: @convention(c) (Object?) -> Object? = Self.find("SSL_CTX_get_cert_store")
    let addToStore: @convention(c) (Object?, Object?) -> Int32 = Self.find("X509_STORE_add_cert")
    let setVerification: @convention(c) (Object?, Int32, UnsafeRawPointer?) -> Void = Self.find("SSL_CTX_set_verify")
    let setSessionContext: @convention(c) (Object?, UnsafePointer<CChar>?, UInt32) -> Int32 = Self.find(
        "SSL_CTX_set_session_id_context"
    )
    let newSession: @convention(c) (Object?) -> Object? = Self.find("SSL_new")
    let freeSession: @convention(c) (Object?) -> Void = Self.find("SSL_free")
    let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void = Self.find("SSL_set_bio")
    let acceptState: @convention(c) (Object?) -> Void = Self.find("SSL_set_accept_state")
    let read: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32 = Self.find("SSL_read")
    let write: @convention(c) (Object?, Bytes?, Int32) -> Int32 = Self.find("SSL_write")
    let sessionError: @convention(c) (Object?, Int32) -> Int32 = Self.find("SSL_get_error")
    let shutDown: @convention(c) (Object?) -> Int32 = Self.find("SSL_shutdown")

    // MARK: Buffers and errors

    let memory: @convention(c) () -> Object? = Self.find("BIO_s_mem")
    let newBuffer: @convention(c) (Object?) -> Object? = Self.find("BIO_new")
    let freeBuffer: @convention(c) (Object?) -> Int32 = Self.find("BIO_free")
    let readBuffer: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32 = Self.find("BIO_read")
    let writeBuffer: @convention(c) (Object?, Bytes?, Int32) -> Int32 = Self.find("BIO_write")
    let clearErrors: @convention(c) () -> Void = Self.find("ERR_clear_error")

    // MARK: Keys

    let newKeyContext: @convention(c) (Int32, Object?) -> Object? = Self.find("EVP_PKEY_CTX_new_id")
    let freeKeyContext: @convention(c) (Object?) -> Void = Self.find("EVP_PKEY_CTX_free")
    let beginKeys: @convention(c) (Object?) -> Int32 = Self.find("EVP_PKEY_keygen_init")
    let controlKeys: @convention(c) (Object?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32 = Self.find(
        "EVP_PKEY_CTX_ctrl_str"
    )
    let makeKey: @convention(c) (Object?, UnsafeMutablePointer<Object?>?) -> Int32 = Self.find("EVP_PKEY_keygen")
    let freeKey: @convention(c) (Object?) -> Void = Self.find("EVP_PKEY_free")
    let writePublicKey: @convention(c) (Object?, Object?) -> Int32 = Self.find("i2d_PUBKEY_bio")
    let sha256: @convention(c) () -> Object? = Self.find("EVP_sha256")
    let writeKey: @convention(c) (Object?, Object?, Object?, Bytes?, Int32, Bytes?, Bytes?) -> Int32 = Self.find(
        "PEM_write_bio_PrivateKey"
    )
    let readKey: @convention(c) (Object?, Object?, Bytes?, Bytes?) -> Object? = Self.find("PEM_read_bio_PrivateKey")

    // MARK: Certificates

    let newCertificate: @convention(c) () -> Object? = Self.find("X509_new")
    let freeCertificate: @convention(c) (Object?) -> Void = Self.find("X509_free")
    let setVersion: @convention(c) (Object?, Int) -> Int32 = Self.find("X509_set_version")
    let serialNumber: @convention(c) (Object?) -> Object? = Self.find("X509_get_serialNumber")
    let setInteger: @convention(c) (Object?, Int) -> Int32 = Self.find("ASN1_INTEGER_set")
    let beginning: @convention(c) (Object?) -> Object? = Self.find("X509_getm_notBefore")
    let end: @convention(c) (Object?) -> Object? = Self.find("X509_getm_notAfter")
    let setTime: @convention(c) (Object?, Int) -> Object? = Self.find("X509_gmtime_adj")
    let setKey: @convention(c) (Object?, Object?) -> Int32 = Self.find("X509_set_pubkey")
    let subject: @convention(c) (Object?) -> Object? = Self.find("X509_get_subject_name")
    let setIssuer: @convention(c) (Object?, Object?) -> Int32 = Self.find("X509_set_issuer_name")
    let addName: @convention(c) (Object?, UnsafePointer<CChar>?, Int32, Bytes?, Int32, Int32, Int32) -> Int32 =
        Self.find("X509_NAME_add_entry_by_txt")
    let makeExtension: @convention(c) (Object?, Object?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Object? =
        Self.find("X509V3_EXT_nconf")
    let addExtension: @convention(c) (Object?, Object?, Int32) -> Int32 = Self.find("X509_add_ext")
    let freeExtension: @convention(c) (Object?) -> Void = Self.find("X509_EXTENSION_free")
    let sign: @convention(c) (Object?, Object?, Object?) -> Int32 = Self.find("X509_sign")
    let writeCertificate: @convention(c) (Object?, Object?) -> Int32 = Self.find("PEM_write_bio_X509")
    let readCertificate: @convention(c) (Object?, Object?, Bytes?, Bytes?) -> Object? = Self.find("PEM_read_bio_X509")

    private nonisolated(unsafe) static let library = ["libssl.so.3", "libssl.so.1.1"].lazy
        .compactMap { (name: String) in dlopen(name, RTLD_NOW) }.first

    private init() {}

    /// Returns the function with this name, in the library or its dependencies. Each version has all of them.
    private static func find<Function>(_ name: String) -> Function {
        guard let address = dlsym(library, name) else { preconditionFailure("libssl has no \(name)") }
        return unsafeBitCast(address, to: Function.self)
    }
}

// MARK: - Buffers

extension OpenSSL {
    /// Returns the bytes that `body` writes into a new buffer; `nil` if it fails.
    func written(_ body: (Object) -> Int32) -> Data? {
        guard let buffer = newBuffer(memory()) else { return nil }
        defer { _ = freeBuffer(buffer) }
        return body(buffer) == 1 ? contents(of: buffer) : nil
    }

    /// Reads a certificate in PEM format, which the caller frees; `nil` if there is none.
    func certificate(_ pem: Data) -> Object? { reading(pem) { readCertificate($0, nil, nil, nil) } }

    /// Reads a private key in PEM format, which the caller frees; `nil` if there is none.
    func key(_ pem: Data) -> Object? { reading(pem) { readKey($0, nil, nil, nil) } }

    /// Calls `body` with a new buffer that contains `data`, and returns its result.
    private func reading(_ data: Data, _ body: (Object) -> Object?) -> Object? {
        guard let buffer = newBuffer(memory()) else { return nil }
        defer { _ = freeBuffer(buffer) }
        append(data, to: buffer)
        return body(buffer)
    }

    func append(_ bytes: some ContiguousBytes, to buffer: Object) {
        bytes.withUnsafeBytes { bytes in
            if !bytes.isEmpty { _ = writeBuffer(buffer, bytes.baseAddress, Int32(bytes.count)) }
        }
    }

    /// Removes and returns the contents of a buffer.
    func contents(of buffer: Object) -> Data {
        var result = Data()
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { piece in
            while case let count = readBuffer(buffer, piece.baseAddress, Int32(piece.count)), count > 0 {
                result.append(contentsOf: piece[..<Int(count)])
            }
        }
        return result
    }
}
