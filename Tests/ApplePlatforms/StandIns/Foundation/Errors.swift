// NSError, CocoaError, POSIXError and URLError.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC

@objc open class NSError: NSObject, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}
    open var domain: String { "" }
    open var code: Int { 0 }
    open var userInfo: [String: Any] { [:] }
    open var localizedDescription: String { "" }
}
public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}
extension LocalizedError {
    public var errorDescription: String? { nil }
    public var failureReason: String? { nil }
    public var recoverySuggestion: String? { nil }
    public var helpAnchor: String? { nil }
}
public protocol CustomNSError: Error { var errorUserInfo: [String: Any] { get } }
extension Error { public var localizedDescription: String { "" } }
public let NSCocoaErrorDomain = "", NSURLErrorDomain = "", NSPOSIXErrorDomain = "", NSFilePathErrorKey = "",
    NSLocalizedDescriptionKey = "", NSUnderlyingErrorKey = "", NSURLErrorFailingURLErrorKey = "",
    NSURLErrorFailingURLStringErrorKey = ""
public var NSURLErrorCancelled: Int { -999 }
public struct CocoaError: Error, Hashable, @unchecked Sendable, CustomNSError {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public static var fileNoSuchFile: Code { fatalError() }
        public static var fileLocking: Code { fatalError() }
        public static var fileReadUnknown: Code { fatalError() }
        public static var fileReadTooLarge: Code { fatalError() }
        public static var fileReadCorruptFile: Code { fatalError() }
        public static var featureUnsupported: Code { fatalError() }
        public static var fileReadNoPermission: Code { fatalError() }
        public static var fileReadNoSuchFile: Code { fatalError() }
        public static var fileWriteUnknown: Code { fatalError() }
        public static var fileWriteNoPermission: Code { fatalError() }
        public static var fileWriteInvalidFileName: Code { fatalError() }
        public static var fileWriteFileExists: Code { fatalError() }
        public static var fileWriteUnsupportedScheme: Code { fatalError() }
        public static var fileWriteOutOfSpace: Code { fatalError() }
        public static var fileWriteVolumeReadOnly: Code { fatalError() }
        public static var userCancelled: Code { fatalError() }
    }
    public init(_ c: Code, userInfo: [String: Any] = [:]) { code = c }
    public let code: Code
    public var userInfo: [String: Any] { [:] }
    public var errorUserInfo: [String: Any] { [:] }
    public var filePath: String? { nil }
    public var underlying: (any Error)? { nil }
    public var url: URL? { nil }
    public static var userCancelled: Code { .userCancelled }
    public static var fileNoSuchFile: Code { .fileNoSuchFile }
    public static var fileReadUnknown: Code { .fileReadUnknown }
    public static var fileReadCorruptFile: Code { .fileReadCorruptFile }
}
public enum POSIXErrorCode: Int32, Hashable, Sendable {
    case EPERM = 1, ENOENT, ESRCH, EINTR, EIO, ENXIO, E2BIG, ENOEXEC, EBADF, ECHILD, EDEADLK, ENOMEM, EACCES, EFAULT,
        ENOTBLK, EBUSY, EEXIST, EXDEV, ENODEV, ENOTDIR, EISDIR, EINVAL, ENFILE, EMFILE, ENOTTY, ETXTBSY, EFBIG, ENOSPC,
        ESPIPE, EROFS, EMLINK, EPIPE, EDOM, ERANGE, EAGAIN
    case ECONNRESET = 54, ECONNREFUSED = 61, ENAMETOOLONG = 63, EDQUOT = 69
    public static var EWOULDBLOCK: POSIXErrorCode { .EAGAIN }
}
public struct POSIXError: Error, Hashable, @unchecked Sendable {
    public typealias Code = POSIXErrorCode
    public init(_ c: POSIXErrorCode, userInfo: [String: Any] = [:]) { code = c }
    public let code: POSIXErrorCode
}
public struct URLError: Error, Hashable, @unchecked Sendable, CustomNSError {
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
    }
    public init(_ c: Code, userInfo: [String: Any] = [:]) { code = c }
    public let code: Code
    public var userInfo: [String: Any] { [:] }
    public var errorUserInfo: [String: Any] { [:] }
    public var failingURL: URL? { nil }
    public var failureURLString: String? { nil }
    public var errorCode: Int { 0 }
    public static var errorDomain: String { "" }
}
extension URLError.Code {
    public static var unknown: Self { fatalError() }
    public static var cancelled: Self { fatalError() }
    public static var badURL: Self { fatalError() }
    public static var timedOut: Self { fatalError() }
    public static var unsupportedURL: Self { fatalError() }
    public static var cannotFindHost: Self { fatalError() }
    public static var cannotConnectToHost: Self { fatalError() }
    public static var networkConnectionLost: Self { fatalError() }
    public static var dnsLookupFailed: Self { fatalError() }
    public static var httpTooManyRedirects: Self { fatalError() }
    public static var resourceUnavailable: Self { fatalError() }
    public static var notConnectedToInternet: Self { fatalError() }
    public static var redirectToNonExistentLocation: Self { fatalError() }
    public static var badServerResponse: Self { fatalError() }
    public static var userCancelledAuthentication: Self { fatalError() }
    public static var userAuthenticationRequired: Self { fatalError() }
    public static var zeroByteResource: Self { fatalError() }
    public static var cannotOpenFile: Self { fatalError() }
    public static var cannotDecodeRawData: Self { fatalError() }
    public static var cannotDecodeContentData: Self { fatalError() }
    public static var cannotParseResponse: Self { fatalError() }
    public static var secureConnectionFailed: Self { fatalError() }
    public static var serverCertificateHasBadDate: Self { fatalError() }
    public static var serverCertificateUntrusted: Self { fatalError() }
    public static var serverCertificateHasUnknownRoot: Self { fatalError() }
    public static var serverCertificateNotYetValid: Self { fatalError() }
    public static var clientCertificateRejected: Self { fatalError() }
    public static var clientCertificateRequired: Self { fatalError() }
    public static var requestBodyStreamExhausted: Self { fatalError() }
    public static var dataLengthExceedsMaximum: Self { fatalError() }
    public static var cannotCreateFile: Self { fatalError() }
    public static var cannotLoadFromNetwork: Self { fatalError() }
    public static var callIsActive: Self { fatalError() }
    public static var dataNotAllowed: Self { fatalError() }
    public static var internationalRoamingOff: Self { fatalError() }
    public static var appTransportSecurityRequiresSecureConnection: Self { fatalError() }
}
extension URLError {
    public static var cancelled: Code { .cancelled }
    public static var timedOut: Code { .timedOut }
    public static var badServerResponse: Code { .badServerResponse }
    public static var networkConnectionLost: Code { .networkConnectionLost }
}

public func _convertErrorToNSError(_ e: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ e: NSError?) -> any Error { fatalError() }
