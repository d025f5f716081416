import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes the requests of a run, which differ in their URLs alone.
struct RequestTemplate {
    private let method: String
    private let headers: HTTPHeaders
    private let body: Data?

    init(_ options: Options) throws(ProgramExit) {
        let read = try options.body.read()
        method = options.wantsHeadOnly ? "HEAD" : options.method ?? (read == nil ? "GET" : "POST")
        body = read?.data
        var headers = options.headers
        if let type = read?.type, headers["Content-Type"] == nil { headers.add(name: "Content-Type", value: type) }
        self.headers = headers
    }

    func request(for url: URL) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.httpBody = body
        for header in headers { request.addValue(header.value, forHTTPHeaderField: header.name) }
        return request
    }
}

extension URLClient.Configuration {
    /// Creates the settings of the client for all downloads.
    init(_ options: Options) {
        self.init()
        engine = options.engine
        maximumRequestsInFlight = options.maximum
        maximumConnectionsPerHost = options.maximum
        deadlines.idle = .seconds(options.timeout)
        retries.attempts = 1 + options.retries
        retries.base = .milliseconds(500)
        retries.longestRetryAfter = .seconds(600)
        retries.statuses.insert(500)
        // Another file is downloaded during the pause.
        retries.yieldsPlace = true
        if let proxy = options.proxy { self.proxy = .server(proxy) }
        if let file = options.authorities { tls.authorities = .file(URL(literalPath: file)) }
        if let user = options.user {
            authentication =
                options.isDigest
                ? .digest(user: user.name, password: user.password)
                : .basic(user: user.name, password: user.password, when: .always)
        }
    }
}
