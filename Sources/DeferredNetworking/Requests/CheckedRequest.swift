package import DeferredCore
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request that can be sent: the platform will not misread or alter it, nor trap on it.
///
/// A transfer accepts nothing else, so a request is checked once, before any task exists. It goes through many hands: an
/// object, so that each costs one reference.
package final class CheckedRequest: Sendable {
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

    package let request: URLRequest
    package let body: Body
    package let url: URL
    let method: String

    /// The header fields of the request, of which Foundation makes a copy for each look.
    let fields: [String: String]

    /// The caller's time-out in seconds. The platform's `request` may have a rounded one.
    let timeout: TimeInterval

    /// True if the response may be kept in the platform's cache, and taken from it.
    let isCacheable: Bool

    /// True if a client's cache is asked before the request is sent.
    private let hasCache: Bool

    /// Returns the value of a header field, whatever its case.
    func value(of name: String) -> String? { Self.value(of: name, in: fields) }

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
    ///   - hasCache: whether a client's cache is asked before the request is sent.
    package convenience init(
        _ request: URLRequest,
        body: Body = .inRequest,
        hasCache: Bool = false
    ) throws(URLClientError) {
        var result = request
        let original = request.url
        let url = try Self.checkedURL(original)
        // Each change of a request that somebody else has, too, copies all of it.
        if url != original { result.url = url }
        if let method = request.httpMethod {
            try RequestGrammar.check(method: method)
        }
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            try RequestGrammar.check(fieldNamed: name, value: value)
        }
        try self.init(wellFormed: result, to: url, body: body, hasCache: hasCache)
    }

    /// Returns this request with the default headers of an engine that can connect to its host.
    ///
    /// - Parameter engine: nil if it is gone already, so that nothing will be sent.
    func fitted(to engine: (any Engine)?) throws(URLClientError) -> CheckedRequest {
        guard let engine else { return self }
        try engine.check(url)
        if body.trailers != nil { try engine.checkTrailers() }
        let defaults = engine.defaultHeaders
        let missing = defaults.isEmpty ? [:] : defaults.filter { value(of: $0.key) == nil }
        if missing.isEmpty { return self }
        var copy = request
        for (name, value) in missing {
            // Checked before it is set: setting a value with a line break silently drops it.
            try RequestGrammar.check(fieldNamed: name, value: value)
            copy.setValue(value, forHTTPHeaderField: name)
        }
        let checked = try CheckedRequest(wellFormed: copy, to: url, body: body, hasCache: hasCache)
        return CheckedRequest(checked, timeout: timeout)
    }

    /// Checks what the grammar of a request's parts doesn't tell.
    ///
    /// - Parameters:
    ///   - request: Made of parts that were checked by `RequestGrammar`.
    ///   - url: Its URL, which is absolute, has a host, and whose scheme is `http` or `https` in lower case.
    package init(
        wellFormed request: URLRequest,
        to url: URL,
        body: Body = .inRequest,
        hasCache: Bool = false
    ) throws(URLClientError) {
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
        try Self.round(timeout, of: &result)
        try Self.checkBody(body, of: &result, claimed: Self.value(of: "Content-Length", in: fields))
        if let trailers = body.trailers {
            result.setValue(trailers.names.joined(separator: ", "), forHTTPHeaderField: "Trailer")
        }
        self.url = url
        self.request = result
        method = result.httpMethod ?? "GET"
        self.fields = body.trailers == nil ? fields : result.allHTTPHeaderFields ?? [:]
        self.body = body
        self.hasCache = hasCache
        isCacheable = true
    }

    /// Copies a request, with some changes.
    private init(
        _ other: CheckedRequest,
        request: URLRequest? = nil,
        body: Body? = nil,
        timeout: TimeInterval? = nil,
        isCacheable: Bool? = nil
    ) {
        self.request = request ?? other.request
        method = request.map { $0.httpMethod ?? "GET" } ?? other.method
        fields = request.map { $0.allHTTPHeaderFields ?? [:] } ?? other.fields
        self.body = body ?? other.body
        url = other.url
        self.timeout = timeout ?? other.timeout
        self.isCacheable = isCacheable ?? other.isCacheable
        hasCache = other.hasCache
    }

    /// Returns a request that continues this one, checked like it.
    func following(_ next: URLRequest, body: Body) throws(URLClientError) -> CheckedRequest {
        let checked = try CheckedRequest(next, body: body, hasCache: hasCache)
        return isCacheable ? checked : checked.uncached()
    }

    /// Returns this request with the same bytes from elsewhere.
    func with(_ body: Body) -> CheckedRequest { CheckedRequest(self, body: body) }

    /// Returns this request with a header field that the library generates, or without the field if `value` is `nil`.
    func setting(_ value: String?, for name: String) -> CheckedRequest {
        var request = request
        request.setValue(value, forHTTPHeaderField: name)
        return CheckedRequest(self, request: request)
    }

    /// Returns this request with a credential.
    func authorized(by field: String) throws(URLClientError) -> CheckedRequest {
        // Checked before it is set: a token with a line break at its end would silently be dropped.
        try RequestGrammar.check(fieldNamed: "Authorization", value: field)
        return setting(field, for: "Authorization")
    }

    /// Returns this request for a transfer with its own deadlines: the platform would truncate them to whole seconds.
    func withoutPlatformTimeout() -> CheckedRequest {
        var request = request
        request.timeoutInterval = TimeoutRounding.longest
        return CheckedRequest(self, request: request)
    }

    /// Returns this request for a response that is stored elsewhere and must not come from a cache.
    func uncached() -> CheckedRequest {
        var request = request
        if SafeConfiguration.keepsCache, !hasCache, request.cachePolicy == .useProtocolCachePolicy {
            request.cachePolicy = .reloadIgnoringLocalCacheData
        }
        return CheckedRequest(self, request: request, isCacheable: false)
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
    static func value(of name: String, in fields: [String: String]) -> String? {
        fields.first { HTTPToken.areEqualWithoutCase($0.key, name) }?.value
    }

    private static func round(_ timeout: TimeInterval, of request: inout URLRequest) throws(URLClientError) {
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
