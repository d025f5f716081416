#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// A handle of libcurl's, used for one request after the other. Connections are not its own but the worker's.
final class LibcurlHandle {
    private static let errorSize = 256

    /// A small buffer costs most of the throughput of large bodies.
    private static let bufferSize = 256 << 10

    let easy: libcurl_easy

    /// Where libcurl writes what went wrong. It must stay where it is.
    private let errorText: UnsafeMutablePointer<CChar>
    private var headers: UnsafeMutablePointer<libcurl_slist>?

    /// - Returns: nil without memory for it.
    init?(_ options: LibcurlOptions) {
        guard let easy = libcurl_easy_create() else { return nil }
        self.easy = easy
        errorText = .allocate(capacity: Self.errorSize)
        errorText.initialize(repeating: 0, count: Self.errorSize)
        set(CURLOPT_ERRORBUFFER, to: errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_BUFFERSIZE, Self.bufferSize)
        set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Without it, cancelling a request waits for its name to be looked up. Unknown before 7.87.
        set(CURLOPT_QUICK_EXIT, 1)
        // The client's deadlines count, and there is none that means "never".
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        // Since 7.85; before that, and still today, numbers.
        if libcurl_easy_set_pointer(easy, Int32(CURLOPT_PROTOCOLS_STR), "http,https") != 0 {
            set(CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS)
        }
        set(CURLOPT_USERAGENT, to: options.userAgent)
        setCallbacks()
    }

    deinit {
        libcurl_easy_destroy(easy)
        libcurl_slist_free(headers)
        errorText.deallocate()
    }

    /// What libcurl has said of the last failure, or nothing.
    var failureText: String { String(cString: errorText) }

    /// Makes the handle ready for a request, whose callbacks get `context`.
    func prepare(
        _ request: CheckedRequest,
        body: (any UploadSource)?,
        options: LibcurlOptions,
        context: UnsafeMutableRawPointer
    ) {
        errorText[0] = 0
        let request = request.request
        let url = request.url ?? URL(filePath: "/")
        set(CURLOPT_URL, to: url.absoluteString)
        let isSecure = url.scheme == "https"
        // In the clear, a server that claims to speak HTTP/2 would make libcurl share its connections among requests.
        set(CURLOPT_HTTP_VERSION, isSecure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // Requests at the same time share one connection, if it turns out to be one of HTTP/2.
        set(CURLOPT_PIPEWAIT, isSecure ? 1 : 0)
        setMethod(request.httpMethod ?? "GET", body)
        setHeaders(of: request, url, hasBody: body != nil, cookies: options.cookies)
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PRIVATE] {
            set(option, to: context)
        }
    }

    private func setMethod(_ method: String, _ body: (any UploadSource)?) {
        // Undoes what the request before has set.
        set(CURLOPT_HTTPGET, 1)
        if let body {
            set(CURLOPT_UPLOAD, 1)
            libcurl_easy_set_offset(easy, Int32(CURLOPT_INFILESIZE_LARGE), body.length ?? -1)
        } else if method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        }
        let isImplied = body == nil && ["GET", "HEAD"].contains(method)
        if isImplied {
            set(CURLOPT_CUSTOMREQUEST, to: UnsafeRawPointer?.none)
        } else {
            set(CURLOPT_CUSTOMREQUEST, to: method)
        }
    }

    private func setHeaders(of request: URLRequest, _ url: URL, hasBody: Bool, cookies: HTTPCookieStorage?) {
        libcurl_slist_free(headers)
        headers = nil
        var hasCodings = false
        var hasExpectation = false
        var hasCookies = false
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            switch name.lowercased() {
            // It is the body's length, or the request would have been refused.
            case "content-length": continue
            case "accept-encoding": hasCodings = true
            case "expect": hasExpectation = true
            case "cookie": hasCookies = true
            default: break
            }
            // libcurl's way to write a field without a value.
            add(value.isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if !hasCodings { add("Accept-Encoding: \(ContentDecoder.accepted)") }
        // libcurl would wait for a permission to send large bodies, for a second if the server doesn't know that.
        if hasBody, !hasExpectation { add("Expect:") }
        if !hasCookies, request.httpShouldHandleCookies, let stored = cookies?.cookies(for: url), !stored.isEmpty {
            for (name, value) in HTTPCookie.requestHeaderFields(with: stored) { add("\(name): \(value)") }
        }
        set(CURLOPT_HTTPHEADER, to: headers)
    }

    private func add(_ line: String) {
        // Without memory for one more line, the list stays as it is, and is let go of with the handle.
        headers = libcurl_slist_append(headers, line) ?? headers
    }

    private func setCallbacks() {
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_HEADERFUNCTION)) { bytes, size, count, context in
            LibcurlExchange.of(context)?.receive(line: .init(start: bytes, count: size * count)) ?? 0
        }
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_WRITEFUNCTION)) { bytes, size, count, context in
            LibcurlExchange.of(context)?.receive(body: .init(start: bytes, count: size * count)) ?? 0
        }
        libcurl_easy_set_transfer(easy, Int32(CURLOPT_READFUNCTION)) { bytes, size, count, context in
            LibcurlExchange.of(context)?.fill(.init(start: bytes, count: size * count)) ?? CURL_READFUNC_ABORT
        }
        libcurl_easy_set_seek(easy) { context, offset, origin in
            let isRewound = offset == 0 && origin == SEEK_SET && LibcurlExchange.of(context)?.rewind() ?? false
            return Int32(isRewound ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL)
        }
    }

    private func set(_ option: Int, _ value: Int) {
        libcurl_easy_set_long(easy, Int32(option), value)
    }

    private func set(_ option: Int, to value: UnsafeRawPointer?) {
        libcurl_easy_set_pointer(easy, Int32(option), value)
    }

    private func set(_ option: Int, to value: String) {
        _ = value.withCString { libcurl_easy_set_pointer(easy, Int32(option), $0) }
    }
}
#endif
