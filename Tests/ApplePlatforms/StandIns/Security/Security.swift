// Certificates, identities, trust and the versions of TLS.

@_exported import CoreFoundation

public typealias OSStatus = Int32
#if LENIENT
    public class SecTrust: @unchecked Sendable {}
    public class SecCertificate: @unchecked Sendable {}
    public class SecIdentity: @unchecked Sendable {}
#else
    public class SecTrust {}
    public class SecCertificate {}
    public class SecIdentity {}
#endif
public let errSecSuccess: OSStatus = 0, errSecNotTrusted: OSStatus = -67_843,
    errSecCertificateExpired: OSStatus = -67_818, errSecCertificateNotValidYet: OSStatus = -67_819
public let kSecImportExportPassphrase = NSString(), kSecImportItemIdentity = NSString(),
    kSecImportItemCertChain = NSString()
@available(macOS 15, iOS 18, *) public let kSecImportToMemoryOnly = NSString()
@discardableResult public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?)
    -> OSStatus
{ 0 }
@discardableResult public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool)
    -> OSStatus
{ 0 }
@discardableResult public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?)
    -> Bool
{ true }
@discardableResult public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { nil }
@discardableResult public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { fatalError() }
@discardableResult public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData)
    -> SecCertificate?
{ nil }
@discardableResult public func SecIdentityGetTypeID() -> CFTypeID { 0 }
@discardableResult public func SecPKCS12Import(
    _ pkcs12_data: CFData,
    _ options: CFDictionary,
    _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus { 0 }
public enum tls_protocol_version_t: UInt16, Sendable { case TLSv12 = 0x0303, TLSv13 = 0x0304 }
