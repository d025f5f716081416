// Streams, requests, responses, sessions and their delegates.

@_exported import CoreFoundation
@_exported import Darwin
@_exported import Dispatch
@_exported import ObjectiveC
@_exported import Security

@objc public protocol StreamDelegate: NSObjectProtocol {}
open class Stream: NSObject {
    public enum Status: UInt, Sendable { case notOpen, opening, open, reading, writing, atEnd, closed, error }
    public struct PropertyKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let fileCurrentOffsetKey = PropertyKey(rawValue: "")
    }
    open func open() {}
    open func close() {}
    open var streamStatus: Status { .open }
    open var streamError: (any Error)? { nil }
    open unowned(unsafe) var delegate: (any StreamDelegate)?
    open func property(forKey: PropertyKey) -> Any? { nil }
    open func setProperty(_ p: Any?, forKey: PropertyKey) -> Bool { true }
    open func schedule(in: RunLoop, forMode: RunLoop.Mode) {}
    open func remove(from: RunLoop, forMode: RunLoop.Mode) {}
}
@available(*, unavailable) extension Stream: @unchecked Sendable {}
open class InputStream: Stream {
    public init(data: Data) {}
    public init?(url: URL) { nil }
    public init?(fileAtPath: String) { nil }
    open func read(_ b: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int { 0 }
    open func getBuffer(_ b: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>)
        -> Bool
    { false }
    open var hasBytesAvailable: Bool { true }
}
open class OutputStream: Stream {}
public struct URLRequest: Hashable, Sendable, _ObjectiveCBridgeable {
    public func _bridgeToObjectiveC() -> NSURLRequest { fatalError() }
    public enum CachePolicy: UInt, Sendable {
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData,
            returnCacheDataElseLoad, returnCacheDataDontLoad, reloadRevalidatingCacheData
    }
    public enum NetworkServiceType: UInt, Sendable { case `default`, background }
    public init(url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0) {
        self.url = url
    }
    public var url: URL?
    public var cachePolicy = CachePolicy.useProtocolCachePolicy
    public var timeoutInterval: TimeInterval = 60
    public var httpMethod: String?
    public var allHTTPHeaderFields: [String: String]?
    public var httpBody: Data?
    public var httpBodyStream: InputStream? {
        get { nil }
        set {}
    }
    public var httpShouldHandleCookies = true
    public var httpShouldUsePipelining = false
    public var allowsCellularAccess = true
    public var networkServiceType = NetworkServiceType.default
    public var assumesHTTP3Capable = false
    public var mainDocumentURL: URL?
    public func value(forHTTPHeaderField: String) -> String? { nil }
    public mutating func setValue(_ v: String?, forHTTPHeaderField: String) {}
    public mutating func addValue(_ v: String, forHTTPHeaderField: String) {}
}
@objc open class URLResponse: NSObject, @unchecked Sendable {
    open var url: URL? { nil }
    open var mimeType: String? { nil }
    open var expectedContentLength: Int64 { 0 }
    open var suggestedFilename: String? { nil }
    open var textEncodingName: String? { nil }
    public init(url: URL, mimeType: String?, expectedContentLength: Int, textEncodingName: String?) {}
}
@objc open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public init?(url: URL, statusCode: Int, httpVersion: String?, headerFields: [String: String]?) { fatalError() }
    open var statusCode: Int { 0 }
    open var allHeaderFields: [AnyHashable: Any] { [:] }
    open func value(forHTTPHeaderField: String) -> String? { nil }
    open class func localizedString(forStatusCode: Int) -> String { "" }
}
@objc open class URLCache: NSObject, @unchecked Sendable {
    @objc(NSURLCacheStoragePolicy) public enum StoragePolicy: UInt, Sendable {
        case allowed, allowedInMemoryOnly, notAllowed
    }
    public convenience init(memoryCapacity: Int, diskCapacity: Int, diskPath: String?) { fatalError() }
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) { fatalError() }
    public class var shared: URLCache { fatalError() }
}
@objc open class URLCredentialStorage: NSObject, @unchecked Sendable {}
public struct HTTPCookiePropertyKey: Hashable, Sendable {
    public static var name: Self { fatalError() }
    public static var value: Self { fatalError() }
    public static var domain: Self { fatalError() }
    public static var path: Self { fatalError() }
    public static var secure: Self { fatalError() }
    public static var expires: Self { fatalError() }
    public static var discard: Self { fatalError() }
}
@objc open class HTTPCookie: NSObject, @unchecked Sendable {
    public init?(properties: [HTTPCookiePropertyKey: Any]) { nil }
    open class func cookies(withResponseHeaderFields fields: [String: String], for url: URL) -> [HTTPCookie] { [] }
    open var name: String { "" }
    open var value: String { "" }
    open var domain: String { "" }
    open var path: String { "" }
    open var isSecure: Bool { false }
    open var expiresDate: Date? { nil }
}
@objc open class HTTPCookieStorage: NSObject, @unchecked Sendable {
    public enum AcceptPolicy: UInt, Sendable { case always, never, onlyFromMainDocumentDomain }
    public class var shared: HTTPCookieStorage { fatalError() }
    open var cookies: [HTTPCookie]? { nil }
    open var cookieAcceptPolicy: AcceptPolicy {
        get { .always }
        set {}
    }
    open func setCookie(_ cookie: HTTPCookie) {}
    open func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {}
    open func deleteCookie(_ cookie: HTTPCookie) {}
    open func cookies(for url: URL) -> [HTTPCookie]? { nil }
}
extension HTTPCookie { public typealias AcceptPolicy = HTTPCookieStorage.AcceptPolicy }
@objc open class URLCredential: NSObject, @unchecked Sendable {
    public enum Persistence: UInt, Sendable { case none, forSession, permanent, synchronizable }
    public init(user: String, password: String, persistence: Persistence) {}
    public convenience init(trust: SecTrust) { fatalError() }
    public convenience init(identity: SecIdentity, certificates: [Any]?, persistence: Persistence) { fatalError() }
    open var user: String? { nil }
    open var password: String? { nil }
    open var hasPassword: Bool { true }
}
public let NSURLAuthenticationMethodServerTrust = "", NSURLAuthenticationMethodClientCertificate = "",
    NSURLAuthenticationMethodNTLM = "", NSURLAuthenticationMethodNegotiate = "", NSURLAuthenticationMethodHTTPBasic = ""
@objc open class URLProtectionSpace: NSObject, @unchecked Sendable {
    open var authenticationMethod: String { "" }
    public init(host: String, port: Int, protocol: String?, realm: String?, authenticationMethod: String?) {}
    open var realm: String? { nil }
    open var serverTrust: SecTrust? { nil }
    open var port: Int { 0 }
    open var host: String { "" }
}
@objc public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    func cancel(_ challenge: URLAuthenticationChallenge)
}
@objc open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
    public init(
        protectionSpace: URLProtectionSpace,
        proposedCredential: URLCredential?,
        previousFailureCount: Int,
        failureResponse: URLResponse?,
        error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {}
    open var protectionSpace: URLProtectionSpace { get { fatalError() } }
    open var proposedCredential: URLCredential? { nil }
    open var previousFailureCount: Int { 0 }
    open var failureResponse: URLResponse? { nil }
    open var error: (any Error)? { nil }
    open var sender: (any URLAuthenticationChallengeSender)? { nil }
}
@objc public protocol URLProtocolClient: NSObjectProtocol {
    func urlProtocol(_ p: URLProtocol, didReceive r: URLResponse, cacheStoragePolicy: URLCache.StoragePolicy)
    func urlProtocol(_ p: URLProtocol, didLoad d: Data)
    func urlProtocolDidFinishLoading(_ p: URLProtocol)
    func urlProtocol(_ p: URLProtocol, didFailWithError e: any Error)
}
@objc open class URLProtocol: NSObject {
    public init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {}
    open class func canInit(with request: URLRequest) -> Bool { true }
    open class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    open func startLoading() {}
    open func stopLoading() {}
    open var client: (any URLProtocolClient)? { nil }
    open var task: URLSessionTask? { nil }
    open var request: URLRequest { fatalError() }
}
@objc open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    public class var `default`: URLSessionConfiguration { fatalError() }
    public class var ephemeral: URLSessionConfiguration { fatalError() }
    public class func background(withIdentifier: String) -> URLSessionConfiguration { fatalError() }
    open var identifier: String? { nil }
    open var urlCache: URLCache?
    open var urlCredentialStorage: URLCredentialStorage?
    open var httpCookieStorage: HTTPCookieStorage?
    open var httpShouldSetCookies = true
    open var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.always
    open var httpAdditionalHeaders: [AnyHashable: Any]?
    open var httpMaximumConnectionsPerHost = 6
    open var timeoutIntervalForRequest: TimeInterval = 60
    open var timeoutIntervalForResource: TimeInterval = 60
    open var protocolClasses: [AnyClass]?
    open var waitsForConnectivity = false
    open var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    open var allowsCellularAccess = true
    open var tlsMinimumSupportedProtocolVersion = tls_protocol_version_t.TLSv12
}
@objc open class URLSessionTask: NSObject, @unchecked Sendable {
    public enum State: Int, Sendable { case running, suspended, canceling, completed }
    open var taskIdentifier: Int { 0 }
    open var originalRequest: URLRequest? { nil }
    open var currentRequest: URLRequest? { nil }
    open var response: URLResponse? { nil }
    open var delegate: (any URLSessionTaskDelegate)?
    open var progress: Progress { fatalError() }
    open var state: State { .running }
    open var error: (any Error)? { nil }
    open var priority: Float {
        get { 0 }
        set {}
    }
    open var taskDescription: String? {
        get { nil }
        set {}
    }
    open var countOfBytesReceived: Int64 { 0 }
    open func cancel() {}
    open func suspend() {}
    open func resume() {}
    public class var highPriority: Float { 1 }
    public class var lowPriority: Float { 1 }
    public class var defaultPriority: Float { 1 }
    open var earliestBeginDate: Date? {
        get { nil }
        set {}
    }
}
@objc open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
@objc open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}
@objc open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
@objc open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {}
@objc open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { [] }
    open var redirectCount: Int { 0 }
}
@objc open class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    open var fetchStartDate: Date? { nil }
    open var domainLookupEndDate: Date? { nil }
    open var connectEndDate: Date? { nil }
    open var secureConnectionEndDate: Date? { nil }
    open var responseStartDate: Date? { nil }
    open var responseEndDate: Date? { nil }
    open var networkProtocolName: String? { nil }
    open var isReusedConnection: Bool { false }
    open var remoteAddress: String? { nil }
    open var remotePort: Int? { nil }
}
@objc public class CachedURLResponse: NSObject, @unchecked Sendable {}
@objc open class URLSession: NSObject, @unchecked Sendable {
    @objc(NSURLSessionAuthChallengeDisposition) public enum AuthChallengeDisposition: Int, Sendable {
        case useCredential, performDefaultHandling, cancelAuthenticationChallenge, rejectProtectionSpace
    }
    @objc(NSURLSessionResponseDisposition) public enum ResponseDisposition: Int, Sendable {
        case cancel, allow, becomeDownload, becomeStream
    }
    public class var shared: URLSession { fatalError() }
    public convenience init(configuration: URLSessionConfiguration) { fatalError() }
    public convenience init(
        configuration: URLSessionConfiguration,
        delegate: (any URLSessionDelegate)?,
        delegateQueue: OperationQueue?
    ) { fatalError() }
    open var delegateQueue: OperationQueue { fatalError() }
    open var delegate: (any URLSessionDelegate)? { nil }
    open var configuration: URLSessionConfiguration { fatalError() }
    open func finishTasksAndInvalidate() {}
    open func invalidateAndCancel() {}
    open func dataTask(with: URLRequest) -> URLSessionDataTask { fatalError() }
    open func dataTask(with: URL) -> URLSessionDataTask { fatalError() }
    open func uploadTask(with: URLRequest, fromFile: URL) -> URLSessionUploadTask { fatalError() }
    open func uploadTask(with: URLRequest, from: Data) -> URLSessionUploadTask { fatalError() }
    @preconcurrency public func dataTask(
        with: URLRequest,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    @preconcurrency public func dataTask(
        with: URL,
        completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    public func data(for: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse)
    { fatalError() }
    public func data(from: URL, delegate: (any URLSessionTaskDelegate)? = nil) async throws -> (Data, URLResponse) {
        fatalError()
    }
    @available(*, noasync) open func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {}
    open var allTasks: [URLSessionTask] { get async { [] } }
}
@objc public protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    @objc optional func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)
    @objc optional func urlSession(
        _ session: URLSession,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
}
@objc public protocol URLSessionTaskDelegate: URLSessionDelegate {
    @objc optional func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)
    @objc optional func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    )
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    )
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    )
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    )
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    )
    @objc optional func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didCompleteWithError error: (any Error)?
    )
}
@objc public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    @objc optional func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    )
    @objc optional func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
    @objc optional func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    )
}
