#if os(Linux)
import CLibcurl
import Foundation
import FoundationNetworking

/// An easy handle of libcurl, reused for consecutive requests. Connections belong to a multi handle, not to it.
final class LibcurlHandle {
    /// True if libcurl is to write each line of a head like the body, before it looks at the line as a field.
    ///
    /// In 7.83 to 8.1, a handle keeps a pointer to the last field of a response that is gone: a server whose next response
    /// begins with a folded line makes libcurl write there (curl's issue 11101). A line that is refused goes no further.
    static let writesHeads = (0x07_53_00..<0x08_02_00).contains(LibcurlEngine.versionNumber)

    private static let errorSize = 256

    /// A small buffer costs most of the throughput of large bodies.
    private static let bufferSize = 256 << 10

    let easy: libcurl_easy
    let options: LibcurlOptions

    /// Not to end before the handle.
    private let sessions: LibcurlSessions?

    /// True once libcurl keeps something of a request that would be wrong for the next one: its target; its place in the lines
    /// behind a body, to which it never returns, so that it would write the next body to the wrong place; or that an
    /// expectation was refused, after which it never waits for one.
    private(set) var isSpent = false

    /// The request that it runs, which libcurl's callbacks are for; nil while it has none.
    private(set) var transfer: LibcurlTransfer?

    /// The fields of a request that has none of its own, and no body.
    private let plainHeaders: LibcurlHeaders

    /// libcurl's buffer for the description of a failure. Its address must not change.
    let errorText: UnsafeMutablePointer<CChar>

    /// Its address must not change.
    let sockets: UnsafeMutablePointer<socket_source>

    /// The size of the buffer for responses.
    private var receivedSize = 0

    /// The address of a name, for libcurl.
    private var addresses: LibcurlHeaders?
    private var headers: LibcurlHeaders?

    /// The fields that are for a proxy alone: no server gets them.
    private var proxyHeaders: LibcurlHeaders?

    /// - Returns: nil if no memory is available.
    init?(
        _ options: LibcurlOptions,
        _ sessions: LibcurlSessions? = nil,
        plainHeaders: LibcurlHeaders,
        poll: poll_set
    ) {
        guard let easy = libcurl_easy_create() else { return nil }
        self.easy = easy
        self.sessions = sessions
        self.plainHeaders = plainHeaders
        self.options = options
        sessions?.serve(easy)
        errorText = .allocate(capacity: Self.errorSize)
        errorText.initialize(repeating: 0, count: Self.errorSize)
        sockets = .allocate(capacity: 1)
        sockets.initialize(to: socket_source(set: poll, error: 0, connected: -1))
        set(CURLOPT_ERRORBUFFER, to: errorText)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if Self.writesHeads { set(CURLOPT_HEADER, 1) }
        // Dot segments may be the name of an object, and are what was signed.
        set(CURLOPT_PATH_AS_IS, 1)
        // Without this option, cancelling a request waits for its name look-up. Unknown before 7.87.
        set(CURLOPT_QUICK_EXIT, 1)
        // The client enforces its own deadlines, and libcurl has no value for "never".
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
        // The addresses come from elsewhere, so that they are just to be there until the connection is made.
        set(CURLOPT_DNS_CACHE_TIMEOUT, 2)
        set(CURLOPT_MAXAGE_CONN, options.connectionIdleTimeout)
        // Unknown before 7.80.
        set(CURLOPT_MAXLIFETIME_CONN, options.connectionLifetime)
        // By numbers: the option that takes texts came with 7.85, and compares the name of each protocol that there is.
        set(CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS)
        // The options were tried on another handle.
        try? options.setTLS(on: easy)
        // For proxies. Servers get it as a field, which libcurl need not write for each request.
        if options.mayHaveProxy { set(CURLOPT_USERAGENT, to: options.userAgent) }
        switch options.proxy {
        case .environment where options.mayHaveProxy: break
        case .environment, .none: setProxy("")
        case .server(let url): setProxy(url.absoluteString)
        }
        if let path = options.unixSocketPath { set(CURLOPT_UNIX_SOCKET_PATH, to: path) }
        setCallbacks()
    }

    deinit {
        release()
        libcurl_easy_destroy(easy)
        errorText.deallocate()
        sockets.deallocate()
    }

    /// Lets no other request use the connection of this one.
    func forbidReuse() {
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// Prepares the handle for a request. It keeps the transfer until ``release()``.
    func prepare(for transfer: LibcurlTransfer, body: (any UploadSource)?) {
        self.transfer = transfer
        let task = transfer.task
        errorText[0] = 0
        sockets.pointee.error = 0
        set(CURLOPT_HTTP_VERSION, task.version)
        let mayReuse = options.mayReuseConnections(in: task.version)
        set(CURLOPT_FRESH_CONNECT, mayReuse ? 0 : 1)
        set(CURLOPT_FORBID_REUSE, mayReuse ? 0 : 1)
        setReceivedSize(RatePacer.pieceSize(task.exchange.settings.rateLimit, atMost: Self.bufferSize))
        setURL(task.request.url.absoluteString)
        setMethod(task.request.method, body)
        if body != nil, task.request.body.trailers != nil { setTrailers() }
        setHeaders(task.request.fields, hasBody: body != nil)
        // The facts of TLS and HTTP/2 that libcurl tells in no other way than by texts.
        set(CURLOPT_VERBOSE, task.isSecure || task.version != CURL_HTTP_VERSION_1_1 ? 1 : 0)
    }

    /// Prepares the handle to begin its request again, with the address of a name and a connection to it, if they are there.
    func restart(_ transfer: LibcurlTransfer, at hop: LibcurlHop, _ address: String?, socket: Int32?) {
        self.transfer = transfer
        sockets.pointee.connected = socket ?? -1
        guard let address else { return }
        let literal = address.prefix { $0 != "%" }
        let entry = "\(hop.key):" + (literal.contains(":") ? "[\(literal)]" : literal)
        setAddresses(LibcurlHeaders(Self.forgetsAddresses ? "+" + entry : entry))
    }

    /// True since 7.75: libcurl forgets an address by itself.
    private static let forgetsAddresses = LibcurlEngine.versionNumber >= 0x07_4B_00

    private func setAddresses(_ addresses: LibcurlHeaders?) {
        set(CURLOPT_RESOLVE, to: addresses?.list)
        // The earlier ones are released when libcurl has these.
        self.addresses = addresses
    }

    /// Forgets the transfer.
    func release() {
        transfer = nil
        let socket = sockets.pointee.connected
        if socket >= 0 {
            // libcurl has found another connection meanwhile.
            _ = close(socket)
            sockets.pointee.connected = -1
        }
        if addresses != nil { setAddresses(nil) }
    }

    private func setReceivedSize(_ size: Int) {
        guard size != receivedSize else { return }
        receivedSize = size
        set(CURLOPT_BUFFERSIZE, size)
    }

    private func setMethod(_ method: String, _ body: (any UploadSource)?) {
        // Resets the method of the previous request.
        set(CURLOPT_HTTPGET, 1)
        if let body {
            set(CURLOPT_UPLOAD, 1)
            set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferSize)
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

    private func setURL(_ url: String) {
        set(CURLOPT_URL, to: url)
        // Since 8.8, libcurl leaves out an empty query, unless it is told of the target of the request. For a proxy, that may
        // be the whole URL, which only libcurl knows.
        guard url.utf8.last == UInt8(ascii: "?"), !options.mayHaveProxy else { return }
        isSpent = true
        let target = url.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" && $0 != "?" }
        set(CURLOPT_REQUEST_TARGET, to: (target.first == "?" ? "/" : "") + target)
    }

    private func setTrailers() {
        isSpent = true
        libcurl_easy_set_trailers(easy) { lines, context in
            lines?.pointee = LibcurlHandle.transfer(of: context)?.trailers().take()
            return Int32(CURL_TRAILERFUNC_OK)
        }
    }

    private func setHeaders(_ fields: [String: String], hasBody: Bool) {
        if fields.isEmpty, !hasBody {
            if headers !== plainHeaders { set(plainHeaders, forProxy: nil) }
            return
        }
        let headers = LibcurlHeaders()
        var proxyHeaders: LibcurlHeaders?
        var hasAgent = false
        var hasCodings = false
        var hasExpectation = false
        var codings = LibcurlHeaders.acceptedCodings
        for (name, value) in fields {
            switch name.lowercased() {
            case "proxy-authorization":
                proxyHeaders = LibcurlHeaders("\(name): \(value)")
                continue
            // It equals the body's length: otherwise the request would have been refused.
            case "content-length": continue
            case "user-agent": hasAgent = true
            case "accept-encoding": hasCodings = true
            case "expect": hasExpectation = true
            // A part of an encoded body can't be decoded.
            case "range": codings = "Accept-Encoding: identity"
            default: break
            }
            // libcurl's syntax for a field without a value.
            headers.add(FieldList.trimmed(value[...]).isEmpty ? "\(name);" : "\(name): \(value)")
        }
        if !hasAgent { headers.add("User-Agent: \(options.userAgent)") }
        if !hasCodings { headers.add(codings) }
        // Otherwise, libcurl waits for a `100 Continue` before large bodies: for a second if the server doesn't send
        // one.
        if hasBody, !hasExpectation { headers.add("Expect:") }
        set(headers, forProxy: proxyHeaders)
    }

    /// Lets libcurl send the request without waiting for a `100 Continue`: it repeats a caller's own field after a 417.
    func dropExpectation(of request: CheckedRequest) {
        isSpent = true
        let fields = request.fields.filter { !HTTPToken.areEqualWithoutCase($0.key, "Expect") }
        setHeaders(fields, hasBody: request.hasBody)
    }

    private func set(_ headers: LibcurlHeaders, forProxy proxyHeaders: LibcurlHeaders?) {
        set(CURLOPT_HTTPHEADER, to: headers.list)
        set(CURLOPT_PROXYHEADER, to: proxyHeaders?.list)
        // The earlier ones are released when libcurl has these.
        (self.headers, self.proxyHeaders) = (headers, proxyHeaders)
    }

    private func setProxy(_ proxy: String) {
        set(CURLOPT_PROXY, to: proxy)
        // Otherwise, the environment's `no_proxy` would count, and be looked for with each request.
        set(CURLOPT_NOPROXY, to: "")
    }

    private func set(_ option: Int, _ value: Int) {
        libcurl_easy_set_long(easy, Int32(option), value)
    }

    func set(_ option: Int, to value: UnsafeRawPointer?) {
        libcurl_easy_set_pointer(easy, Int32(option), value)
    }

    private func set(_ option: Int, to value: String) {
        _ = value.withCString { libcurl_easy_set_pointer(easy, Int32(option), $0) }
    }
}
#endif
