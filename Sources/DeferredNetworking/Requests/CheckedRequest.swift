package import DeferredCore
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request that can be sent: the platform will not misread or alter it, nor trap on it.
///
/// A transfer accepts nothing else, so a request is checked once, before any task exists.
package struct CheckedRequest: Sendable {
    /// The source of the body's bytes.
    package enum Body: Sendable {
        /// The request's own `httpBody` or `httpBodyStream`, if any.
        case inRequest

        /// A regular file, read while it is sent.
        case file(URL)

        /// A closure that returns a new stream each time the body is sent, and the number of bytes, if it is known.
        case stream(@Sendable () -> InputStream, length: Int64? = nil)

        /// Bytes from an asynchronous sequence, which is made with the task-locals of whoever begins the request.
        case streamed(StreamedBody, TaskLocals?)

        var file: URL? { if case .file(let file) = self { file } else { nil } }

        var trailers: HTTPTrailers? { if case .streamed(let body, _) = self { body.trailers } else { nil } }
    }

    package private(set) var request: URLRequest
    package private(set) var body: Body
    package let url: URL

    /// The caller's time-out in seconds. The platform's `request` may have a rounded one.
    private(set) var timeout: TimeInterval

    /// True if the response may be kept in the platform's cache, and taken from it.
    private(set) var isCacheable = true

    /// Separates the stored responses to this request from others of the same URL.
    package var cachePartition: String?

    /// True if the client has a credential, so that what it gets without it may be its own, too.
    package var isPersonal = false

    /// True if a client's cache is asked before the request is sent.
    private let hasCache: Bool

    var method: String { request.httpMethod ?? "GET" }

    /// Returns the value of a header field, whatever its case.
    func value(of name: String) -> String? { request.value(forHTTPHeaderField: name) }

    var hasBody: Bool {
        if case .inRequest = body { request.httpBody != nil || request.httpBodyStream != nil } else { true }
    }

    /// The bytes of the body; nil if they aren't in memory.
    var bodyInMemory: Data? {
        guard case .inRequest = body, request.httpBodyStream == nil else { return nil }
        return request.httpBody ?? Data()
    }

    /// True if the body's stream would already be read when the request is sent again.
    var hasOneShotBody: Bool {
        switch body {
        case .inRequest: request.httpBodyStream != nil
        case .file, .stream: false
        case .streamed(let body, _): body.isOneShot
        }
    }

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - defaultHeaders: added first, unless the request has the same field.
    ///   - hasCache: whether a client's cache is asked before the request is sent.
    package init(
        _ request: URLRequest,
        body: Body = .inRequest,
        defaultHeaders: [String: String] = [:],
        hasCache: Bool = false
    ) throws(URLClientError) {
        var result = request
        for (name, value) in defaultHeaders where request.value(forHTTPHeaderField: name) == nil {
            // Checked before it is set: setting a value with a line break silently drops it.
            try RequestGrammar.check(fieldNamed: name, value: value)
            result.setValue(value, forHTTPHeaderField: name)
        }
        let url = try Self.checkedURL(request.url)
        // Each change of a request that somebody else has, too, copies all of it.
        if url != request.url { result.url = url }
        if let method = request.httpMethod {
            try RequestGrammar.check(method: method)
        }
        for (name, value) in (result.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            try RequestGrammar.check(fieldNamed: name, value: value)
        }
        try self.init(wellFormed: result, body: body, hasCache: hasCache)
    }

    /// Returns this request with the default headers of an engine that can connect to its host.
    ///
    /// - Parameter engine: nil if it is gone already, so that nothing will be sent.
    func fitted(to engine: (any Engine)?) throws(URLClientError) -> CheckedRequest {
        guard let engine else { return self }
        var result = self
        if !engine.defaultHeaders.isEmpty {
            result = try CheckedRequest(
                request,
                body: body,
                defaultHeaders: engine.defaultHeaders,
                hasCache: hasCache
            )
            result.timeout = timeout
        }
        try engine.check(url)
        if body.trailers != nil { try engine.checkTrailers() }
        return result
    }

    /// Checks what the grammar of a request's parts doesn't tell.
    ///
    /// - Parameter request: Made of parts that were checked by `RequestGrammar`. Its URL is absolute, has a host, and
    ///   its scheme is `http` or `https` in lower case.
    package init(
        wellFormed request: URLRequest,
        body: Body = .inRequest,
        hasCache: Bool = false
    ) throws(URLClientError) {
        guard let url = request.url else { throw Self.missingURL }
        var result = request
        let fields = request.allHTTPHeaderFields ?? [:]
        if let encoding = Self.value(of: "Transfer-Encoding", in: fields) {
            throw .invalidRequest(
                reason: "the header Transfer-Encoding: \(DisplayText.quoted(encoding)) cannot be set, since servers "
                    + "disagree about where a request ends that also has a Content-Length; leave it out"
            )
        }
        guard request.cachePolicy != .returnCacheDataDontLoad || hasCache || SafeConfiguration.keepsCache else {
            throw .invalidRequest(
                reason:
                    "with the cache policy returnCacheDataDontLoad it would get nothing, since there is no cache on "
                    + "this platform; choose another, or set the client's cache"
            )
        }
        timeout = request.timeoutInterval
        try Self.roundTimeout(of: &result)
        try Self.checkBody(body, of: &result, claimed: Self.value(of: "Content-Length", in: fields))
        if let trailers = body.trailers {
            result.setValue(trailers.names.joined(separator: ", "), forHTTPHeaderField: "Trailer")
        }
        self.url = url
        self.request = result
        self.body = body
        self.hasCache = hasCache
    }

    /// Returns a request that continues this one, checked like it.
    func following(_ next: URLRequest, body: Body) throws(URLClientError) -> CheckedRequest {
        let checked = try CheckedRequest(next, body: body, hasCache: hasCache)
        return isCacheable ? checked : checked.uncached()
    }

    /// Returns this request with the same bytes from elsewhere.
    func with(_ body: Body) -> CheckedRequest {
        var result = self
        result.body = body
        return result
    }

    /// Returns this request with a header field that the library generates.
    func setting(_ value: String, for name: String) -> CheckedRequest {
        var result = self
        result.request.setValue(value, forHTTPHeaderField: name)
        return result
    }

    /// Returns this request with a credential.
    func authorized(by field: String) throws(URLClientError) -> CheckedRequest {
        // Checked before it is set: a token with a line break at its end would silently be dropped.
        try RequestGrammar.check(fieldNamed: "Authorization", value: field)
        return setting(field, for: "Authorization")
    }

    /// Returns this request for a transfer with its own deadlines: the platform would truncate them to whole seconds.
    func withoutPlatformTimeout() -> CheckedRequest {
        var result = self
        result.request.timeoutInterval = TimeoutRounding.longest
        return result
    }

    /// Returns this request for a response that is stored elsewhere and must not come from a cache.
    func uncached() -> CheckedRequest {
        var result = self
        result.isCacheable = false
        if SafeConfiguration.keepsCache, !hasCache, request.cachePolicy == .useProtocolCachePolicy {
            result.request.cachePolicy = .reloadIgnoringLocalCacheData
        }
        return result
    }

    /// The request with a fresh stream, if its body is sent as one.
    var withStream: URLRequest {
        var result = request
        switch body {
        case .inRequest: if let stream = request.httpBodyStream { result.httpBodyStream = BodyStreams.sent(stream) }
        case .file(let file): FileBodies.setStream(of: file, in: &result)
        case .stream(let makeStream, let length):
            result.httpBodyStream = BodyStreams.sent(makeStream(), length: length)
            if let length { StreamedLengths.announce(length, in: &result) }
        case .streamed: preconditionFailure("a streamed body is spooled for an engine that can't stream it")
        }
        return result
    }

    /// Returns the value of a field. Foundation's own lookup makes a lower-case copy of each name.
    private static func value(of name: String, in fields: [String: String]) -> String? {
        fields.first { HTTPToken.areEqualWithoutCase($0.key, name) }?.value
    }

    private static func roundTimeout(of request: inout URLRequest) throws(URLClientError) {
        let timeout = request.timeoutInterval
        guard timeout.isFinite, timeout > 0 else {
            throw .invalidRequest(reason: "the time-out of \(timeout) s is not a positive, finite number of seconds")
        }
        let rounded = TimeoutRounding.rounded(timeout)
        // Writing an unchanged value would make the request's own default override the session's time-out.
        if rounded != timeout {
            request.timeoutInterval = rounded
        }
    }
}

// MARK: The URL

extension CheckedRequest {
    /// Returns `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    private static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
        guard let url = url?.absoluteURL else { throw missingURL }
        guard let scheme = url.scheme else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) is relative; "
                    + "resolve it against a base such as \"https://host/\""
            )
        }
        try RequestGrammar.check(scheme: scheme, of: DisplayText.quoted(url))
        try checkAuthority(of: url)
        guard !DisplayText.hasControls(url.absoluteString) else {
            throw .invalidRequest(
                reason: "the URL \(DisplayText.quoted(url)) contains control characters; percent-encode them"
            )
        }
        return lowercasingScheme(scheme, of: url)
    }

    private static let missingURL = URLClientError.invalidRequest(
        reason: "it has no URL; set one such as \"https://host/path\""
    )

    private static func checkAuthority(of url: URL) throws(URLClientError) {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw .invalidRequest(reason: "the URL \(DisplayText.quoted(url)) has no host; write \"https://host/path\"")
        }
        try RequestGrammar.check(port: url.port, of: DisplayText.quoted(url))
    }

    /// Returns the error for a URL that looked right, but that the engine can't read. Engines differ in the hosts that
    /// they accept.
    static func refusal(of url: URL) -> URLClientError {
        let text = DisplayText.quoted(url)
        let port = URLComponents(url: url, resolvingAgainstBaseURL: true)?.rangeOfPort
        guard port == nil || url.port != nil else {
            return .invalidRequest(reason: "the port of \(text) is out of range; use 1 to 65535")
        }
        return .invalidRequest(
            reason: "the host of \(text) is neither a name nor an address that can be connected to; use a name of "
                + "letters, digits, hyphens and dots, or an address such as 127.0.0.1"
        )
    }

    private static func lowercasingScheme(_ scheme: String, of url: URL) -> URL {
        let lowercased = scheme.lowercased()
        guard scheme != lowercased else { return url }
        return URL(string: lowercased + url.absoluteString.dropFirst(scheme.count)) ?? url
    }
}

// MARK: The body

extension CheckedRequest {
    /// Checks that the body can be sent with the method, can be read, and is as long as the request says.
    ///
    /// - Parameter claim: The length that the request says itself, if it does.
    private static func checkBody(
        _ body: Body,
        of request: inout URLRequest,
        claimed claim: String?
    ) throws(URLClientError) {
        let method = request.httpMethod ?? "GET"
        if case .streamed(let body, _) = body { try body.check() }
        if request.httpBody?.isEmpty == true, isBodiless(method) {
            request.httpBody = nil
        }
        let length = try length(of: body, in: request)
        if let length, length < 0 {
            throw .invalidRequest(
                reason: "the announced length of its body is \(length); announce the right one, or none"
            )
        }
        if length != 0, isBodiless(method) {
            throw .invalidRequest(
                reason: "the method \(DisplayText.quoted(method)) cannot carry a body; "
                    + "use POST, or remove the body"
            )
        }
        guard let claim else { return }
        guard let claimed = HTTPNumber.parse(claim) else {
            throw .invalidRequest(
                reason: "the header Content-Length: \(DisplayText.quoted(claim)) is not a number; leave it out"
            )
        }
        guard length != nil || StreamedLengths.areHonoured else {
            throw .invalidRequest(
                reason: "the header Content-Length: \(claimed) cannot be sent with a stream, which goes out in chunks; "
                    + "leave it out, or send data or a file"
            )
        }
        if let length, length != claimed {
            throw .invalidRequest(
                reason: "the header Content-Length: \(claimed) contradicts the body of \(length) bytes; leave it out"
            )
        }
    }

    private static func isBodiless(_ method: String) -> Bool {
        method == "GET" || ["GET", "HEAD"].contains(method.uppercased())
    }

    /// Returns the length of the body in bytes, or nil for a stream.
    private static func length(of body: Body, in request: URLRequest) throws(URLClientError) -> Int64? {
        switch body {
        case .inRequest: request.httpBodyStream == nil ? Int64(request.httpBody?.count ?? 0) : nil
        case .stream(_, let length): length
        case .streamed(let body, _): body.length
        case .file(let file): try fileLength(of: file)
        }
    }

    private static func fileLength(of file: URL) throws(URLClientError) -> Int64 {
        guard file.isFileURL else {
            throw .invalidRequest(reason: "the body \(DisplayText.quoted(file)) is not a file URL")
        }
        guard let length = POSIXFile.lengthOfReadableRegularFile(at: file.path) else {
            throw .invalidRequest(
                reason: "the body \(DisplayText.quoted(file.path)) is not a regular file that can be read"
            )
        }
        return length
    }
}
