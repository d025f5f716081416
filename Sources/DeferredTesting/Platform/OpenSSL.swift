import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Functions of OpenSSL 1.1.1 and 3, looked up at run time in the system's library, so that no target has to link it.
///
/// None of them is variadic, which Swift couldn't call.
///
/// SAFETY: addresses of functions, all of them constant.
struct OpenSSL: @unchecked Sendable {
    typealias Object = OpaquePointer
    typealias Bytes = UnsafeRawPointer

    /// `nil` if the library is not installed.
    static let shared = try? OpenSSL()

    // MARK: Sessions

    let serverMethod: @convention(c) () -> Object?
    let newContext: @convention(c) (Object?) -> Object?
    let freeContext: @convention(c) (Object?) -> Void
    let control: @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
    let useCertificate: @convention(c) (Object?, Object?) -> Int32
    let useKey: @convention(c) (Object?, Object?) -> Int32
    let certificateStore: @convention(c) (Object?) -> Object?
    let addToStore: @convention(c) (Object?, Object?) -> Int32
    let setVerification: @convention(c) (Object?, Int32, UnsafeRawPointer?) -> Void
    let setSessionContext: @convention(c) (Object?, UnsafePointer<CChar>?, UInt32) -> Int32
    let newSession: @convention(c) (Object?) -> Object?
    let freeSession: @convention(c) (Object?) -> Void
    let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void
    let acceptState: @convention(c) (Object?) -> Void
    let read: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
    let write: @convention(c) (Object?, Bytes?, Int32) -> Int32
    let sessionError: @convention(c) (Object?, Int32) -> Int32
    let shutDown: @convention(c) (Object?) -> Int32

    // MARK: Buffers and errors

    let memory: @convention(c) () -> Object?
    let newBuffer: @convention(c) (Object?) -> Object?
    let freeBuffer: @convention(c) (Object?) -> Int32
    let readBuffer: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
    let writeBuffer: @convention(c) (Object?, Bytes?, Int32) -> Int32
    let clearErrors: @convention(c) () -> Void

    // MARK: Keys

    let newKeyContext: @convention(c) (Int32, Object?) -> Object?
    let freeKeyContext: @convention(c) (Object?) -> Void
    let beginKeys: @convention(c) (Object?) -> Int32
    let controlKeys: @convention(c) (Object?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Int32
    let makeKey: @convention(c) (Object?, UnsafeMutablePointer<Object?>?) -> Int32
    let freeKey: @convention(c) (Object?) -> Void
    let publicKeyInfo: @convention(c) (Object?, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    let sha256: @convention(c) () -> Object?
    let digest:
        @convention(c) (
            Bytes?, Int, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt32>?, Object?, Object?
        ) -> Int32
    let writeKey: @convention(c) (Object?, Object?, Object?, Bytes?, Int32, Bytes?, Bytes?) -> Int32
    let readKey: @convention(c) (Object?, Object?, Bytes?, Bytes?) -> Object?

    // MARK: Certificates

    let newCertificate: @convention(c) () -> Object?
    let freeCertificate: @convention(c) (Object?) -> Void
    let setVersion: @convention(c) (Object?, Int) -> Int32
    let serialNumber: @convention(c) (Object?) -> Object?
    let setInteger: @convention(c) (Object?, Int) -> Int32
    let beginning: @convention(c) (Object?) -> Object?
    let end: @convention(c) (Object?) -> Object?
    let setTime: @convention(c) (Object?, Int) -> Object?
    let setKey: @convention(c) (Object?, Object?) -> Int32
    let subject: @convention(c) (Object?) -> Object?
    let setIssuer: @convention(c) (Object?, Object?) -> Int32
    let addName: @convention(c) (Object?, UnsafePointer<CChar>?, Int32, Bytes?, Int32, Int32, Int32) -> Int32
    let makeExtension: @convention(c) (Object?, Object?, UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Object?
    let addExtension: @convention(c) (Object?, Object?, Int32) -> Int32
    let freeExtension: @convention(c) (Object?) -> Void
    let sign: @convention(c) (Object?, Object?, Object?) -> Int32
    let writeCertificate: @convention(c) (Object?, Object?) -> Int32
    let readCertificate: @convention(c) (Object?, Object?, Bytes?, Bytes?) -> Object?

    private init() throws(Missing) {
        let library = try Library()
        serverMethod = try library.find("TLS_server_method")
        newContext = try library.find("SSL_CTX_new")
        freeContext = try library.find("SSL_CTX_free")
        control = try library.find("SSL_CTX_ctrl")
        useCertificate = try library.find("SSL_CTX_use_certificate")
        useKey = try library.find("SSL_CTX_use_PrivateKey")
        certificateStore = try library.find("SSL_CTX_get_cert_store")
        addToStore = try library.find("X509_STORE_add_cert")
        setVerification = try library.find("SSL_CTX_set_verify")
        setSessionContext = try library.find("SSL_CTX_set_session_id_context")
        newSession = try library.find("SSL_new")
        freeSession = try library.find("SSL_free")
        setBuffers = try library.find("SSL_set_bio")
        acceptState = try library.find("SSL_set_accept_state")
        read = try library.find("SSL_read")
        write = try library.find("SSL_write")
        sessionError = try library.find("SSL_get_error")
        shutDown = try library.find("SSL_shutdown")
        memory = try library.find("BIO_s_mem")
        newBuffer = try library.find("BIO_new")
        freeBuffer = try library.find("BIO_free")
        readBuffer = try library.find("BIO_read")
        writeBuffer = try library.find("BIO_write")
        clearErrors = try library.find("ERR_clear_error")
        newKeyContext = try library.find("EVP_PKEY_CTX_new_id")
        freeKeyContext = try library.find("EVP_PKEY_CTX_free")
        beginKeys = try library.find("EVP_PKEY_keygen_init")
        controlKeys = try library.find("EVP_PKEY_CTX_ctrl_str")
        makeKey = try library.find("EVP_PKEY_keygen")
        freeKey = try library.find("EVP_PKEY_free")
        publicKeyInfo = try library.find("i2d_PUBKEY")
        sha256 = try library.find("EVP_sha256")
        digest = try library.find("EVP_Digest")
        writeKey = try library.find("PEM_write_bio_PrivateKey")
        readKey = try library.find("PEM_read_bio_PrivateKey")
        newCertificate = try library.find("X509_new")
        freeCertificate = try library.find("X509_free")
        setVersion = try library.find("X509_set_version")
        serialNumber = try library.find("X509_get_serialNumber")
        setInteger = try library.find("ASN1_INTEGER_set")
        beginning = try library.find("X509_getm_notBefore")
        end = try library.find("X509_getm_notAfter")
        setTime = try library.find("X509_gmtime_adj")
        setKey = try library.find("X509_set_pubkey")
        subject = try library.find("X509_get_subject_name")
        setIssuer = try library.find("X509_set_issuer_name")
        addName = try library.find("X509_NAME_add_entry_by_txt")
        makeExtension = try library.find("X509V3_EXT_nconf")
        addExtension = try library.find("X509_add_ext")
        freeExtension = try library.find("X509_EXTENSION_free")
        sign = try library.find("X509_sign")
        writeCertificate = try library.find("PEM_write_bio_X509")
        readCertificate = try library.find("PEM_read_bio_X509")
    }

    private struct Missing: Error {}

    private struct Library {
        let handle: UnsafeMutableRawPointer

        init() throws(Missing) {
            let names = ["libssl.so.3", "libssl.so.1.1"]
            guard let handle = names.lazy.compactMap({ (name: String) in dlopen(name, RTLD_NOW) }).first else {
                throw Missing()
            }
            self.handle = handle
        }

        /// Returns the function with this name, in the library or its dependencies.
        func find<Function>(_ name: String) throws(Missing) -> Function {
            guard let address = dlsym(handle, name) else { throw Missing() }
            return unsafeBitCast(address, to: Function.self)
        }
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

    /// Calls `body` with a new buffer that contains `data`, and returns its result.
    func reading<Result>(_ data: Data, _ body: (Object) -> Result?) -> Result? {
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
