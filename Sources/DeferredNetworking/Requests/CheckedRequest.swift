package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A request that can be sent: the platform would neither misread it, nor alter it, nor trap on it.
///
/// A transfer accepts nothing else, so a request is checked once, before a task exists.
package struct CheckedRequest: Sendable {
    /// Where the body's bytes come from.
    package enum Body: Sendable {
        /// The request's own `httpBody` or `httpBodyStream`, or nothing.
        case inRequest

        /// A regular file, read while it is sent.
        case file(URL)

        /// A fresh stream for each time that the body has to be sent.
        case stream(@Sendable () -> InputStream)

        var file: URL? { if case .file(let file) = self { file } else { nil } }
    }

    package private(set) var request: URLRequest
    package let body: Body
    let url: URL

    /// The caller's time-out in seconds, which the platform's form of the request may have rounded.
    let timeout: TimeInterval

    var method: String { request.httpMethod ?? "GET" }

    /// Whether sending this again would find the body's stream already read.
    var hasOneShotBody: Bool {
        if case .inRequest = body { request.httpBodyStream != nil } else { false }
    }

    /// Checks a request.
    ///
    /// - Parameter defaultHeaders: added first, where the request has no such field of its own.
    package init(
        _ request: URLRequest,
        body: Body = .inRequest,
        defaultHeaders: [String: String] = [:]
    ) throws(URLClientError) {
        var result = request
        for (name, value) in defaultHeaders where request.value(forHTTPHeaderField: name) == nil {
            // Before it is set: a value with a line break in it is dropped there without a word.
            try RequestGrammar.check(fieldNamed: name, value: value)
            result.setValue(value, forHTTPHeaderField: name)
        }
        url = try Self.checkedURL(request.url)
        // Each change of a request that somebody else has, too, copies all of it.
        if url != request.url { result.url = url }
        if let method = request.httpMethod {
            try RequestGrammar.check(method: method)
        }
        for (name, value) in (result.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            try RequestGrammar.check(fieldNamed: name, value: value)
        }
        guard result.value(forHTTPHeaderField: "Transfer-Encoding") == nil else {
            throw .invalidRequest(
                reason:
                    "the header Transfer-Encoding is not the caller's to set: beside the Content-Length of the body, "
                    + "servers disagree about where the request ends; leave it out"
            )
        }
        guard request.cachePolicy != .returnCacheDataDontLoad || SafeConfiguration.keepsCache else {
            throw .invalidRequest(
                reason:
                    "with the cache policy returnCacheDataDontLoad it would get nothing, since there is no cache on "
                    + "this platform; choose another"
            )
        }
        timeout = request.timeoutInterval
        try Self.roundTimeout(of: &result)
        try Self.checkBody(body, of: &result)
        self.request = result
        self.body = body
    }

    /// The same request with a field of the library's own making.
    func setting(_ value: String, for name: String) -> CheckedRequest {
        var result = self
        result.request.setValue(value, forHTTPHeaderField: name)
        return result
    }

    /// The same request with a credential.
    func authorized(by field: String) throws(URLClientError) -> CheckedRequest {
        // Before it is set: without the line break at the end of a token, it would go out without the token.
        try RequestGrammar.check(fieldNamed: "Authorization", value: field)
        return setting(field, for: "Authorization")
    }

    /// The same request for a transfer whose deadlines are ours: the platform's would cut them down to whole seconds.
    func withoutPlatformTimeout() -> CheckedRequest {
        var result = self
        result.request.timeoutInterval = TimeoutRounding.longest
        return result
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
    /// `url` as an absolute URL with a lower-case scheme, if a request can be sent to it.
    private static func checkedURL(_ url: URL?) throws(URLClientError) -> URL {
        guard let url = url?.absoluteURL else {
            throw .invalidRequest(reason: "it has no URL; set one such as \"https://host/path\"")
        }
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

    private static func checkAuthority(of url: URL) throws(URLClientError) {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw .invalidRequest(reason: "the URL \(DisplayText.quoted(url)) has no host; write \"https://host/path\"")
        }
        if host.contains(":"), !IPv6Literals.areSupported {
            throw .invalidRequest(
                reason: "the host \(DisplayText.quoted(host)) is an IPv6 literal, which this version of Foundation "
                    + "cannot connect to; use a host name, or an IPv4 address"
            )
        }
        try RequestGrammar.check(port: url.port, of: DisplayText.quoted(url))
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
    private static func checkBody(_ body: Body, of request: inout URLRequest) throws(URLClientError) {
        let method = request.httpMethod ?? "GET"
        if request.httpBody?.isEmpty == true, isBodiless(method) {
            request.httpBody = nil
        }
        let length = try length(of: body, in: request)
        if length != 0, isBodiless(method) {
            throw .invalidRequest(
                reason: "the method \(DisplayText.quoted(method)) cannot carry a body; "
                    + "use POST, or remove the body"
            )
        }
        guard let claim = request.value(forHTTPHeaderField: "Content-Length") else { return }
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
        ["GET", "HEAD"].contains(method.uppercased())
    }

    /// The body's length in bytes, or nil for a stream.
    private static func length(of body: Body, in request: URLRequest) throws(URLClientError) -> Int64? {
        switch body {
        case .inRequest: request.httpBodyStream == nil ? Int64(request.httpBody?.count ?? 0) : nil
        case .stream: nil
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
