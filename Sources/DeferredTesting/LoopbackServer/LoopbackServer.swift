public import Foundation

/// An HTTP/1.1 server on 127.0.0.1 that answers with scripts, byte by byte; with TLS, too, on Linux.
///
/// Use it where a test needs a real connection, and above all one that misbehaves: that drips, stalls, breaks off,
/// lies about lengths or is reset. Plain responses are scripts as well.
///
/// ```swift
/// let server = try LoopbackServer { request in
///     switch request.path {
///     case "/hello": .response(body: "Hello")
///     case "/slow": .response(body: "Hello").dripped(every: .milliseconds(10))
///     case "/broken": .response(body: "Hello", contentLength: 100) + [.reset]
///     default: .response(404)
///     }
/// }
/// let (data, _) = try await URLSession.shared.data(from: server.url("/hello"))
/// server.stop()
/// ```
///
/// After a script that neither closes nor resets, the connection is kept for the next request, as HTTP/1.1 specifies;
/// `Connection: close` and HTTP/1.0 are honoured. Malformed requests get status 400, request heads above 64 KiB
/// get 431, and the connection is closed.
///
/// Every connection has a thread, and up to 2,000 can be open at a time; further connections wait until others have
/// ended.
///
/// **Thread safety:** all members can be used from any thread. **Lifetime:** the server runs until ``stop()`` or until
/// it is released. The closures are retained until then.
public final class LoopbackServer: Sendable {
    private let core: ServerCore

    /// Starts a server that asks a closure for the answer to each request.
    ///
    /// - Parameters:
    ///   - port: The port to listen on; 0 selects any free one.
    ///   - tls: The settings of a server for `https`, where ``canDoTLS`` is true; `nil` for `http`. A script that
    ///     resets ends the connection without the closing alert that TLS requires.
    ///   - unixSocketPath: The path in the file system to listen at, instead of a port. Nothing may exist there yet;
    ///     the socket is removed when the server stops.
    ///   - requestLogLimit: The number of latest requests that ``requests`` keeps, each with its body.
    ///   - beforeBody: Called when a request's head has arrived, with an empty ``Request/body``. A script that it
    ///     returns is played at once, and so can answer before the body is read, read it slowly
    ///     (``Script/Step/receive(_:)``), or break off in the middle of an upload. If the script keeps the connection,
    ///     the rest of the body is read and discarded. If it returns `nil`, the body is read and `respond` is called.
    ///   - respond: Called when a request has arrived with its whole body. Calls for different connections are
    ///     concurrent, on threads of the server that have 256 KiB of stack.
    /// - Throws: ``StartError`` when the port is taken or not allowed, when there is no TLS here, or when the system is
    ///   out of resources.
    public convenience init(
        port: UInt16 = 0,
        tls: TLS? = nil,
        unixSocketPath: String? = nil,
        requestLogLimit: Int = 1_000,
        beforeBody: (@Sendable (Request) -> Script?)? = nil,
        respond: @escaping @Sendable (Request) -> Script
    ) throws(StartError) {
        let core = try ServerCore(
            at: unixSocketPath.map { .path($0) } ?? .port(port),
            tls: tls,
            requestLogLimit: requestLogLimit,
            beforeBody: beforeBody,
            respond: respond
        )
        self.init(core)
    }

    /// Starts a server on `[::1]`.
    package static func overIPv6(
        respond: @escaping @Sendable (Request) -> Script
    ) throws(StartError) -> LoopbackServer {
        let core = try ServerCore(
            at: .portOverIPv6,
            tls: nil,
            requestLogLimit: 1_000,
            beforeBody: nil,
            respond: respond
        )
        return LoopbackServer(core)
    }

    private init(_ core: ServerCore) {
        self.core = core
    }

    deinit {
        core.stop()
    }

    /// The port that the server listens on; 0 for one with a path.
    public var port: UInt16 { core.port }

    /// The latest requests, in the order in which they were ready to be answered; requests cut short have a partial
    /// body.
    ///
    /// A request is listed before its script starts. There are at most as many as the initialiser's `requestLogLimit`.
    public var requests: [Request] { core.journal.requests }

    /// The number of requests that have arrived, counted when the head is complete.
    public var requestCount: Int { core.journal.requestCount }

    /// The number of connections that have been accepted.
    public var connectionCount: Int { core.journal.connectionCount }

    /// The number of connections that are open now.
    ///
    /// A connection that the server ends is no longer counted when its peer sees the end. A connection that its peer
    /// closes is counted until the server has noticed.
    public var openConnectionCount: Int { core.journal.openConnectionCount }

    /// The number of connections that have resumed a TLS session of an earlier one.
    package var resumptionCount: Int { core.tls?.resumptionCount ?? 0 }

    /// The scheme and the host of this server's URLs.
    private var base: String {
        let host =
            switch core.address {
            case .port: "127.0.0.1:\(core.port)"
            case .portOverIPv6: "[::1]:\(core.port)"
            case .path: "localhost"
            }
        return (core.tls == nil ? "http://" : "https://") + host
    }

    /// Returns the URL for a path on this server.
    ///
    /// - Parameter path: The path, with a query if needed. Characters that a URL can't hold are percent-encoded.
    public func url(_ path: String = "/") -> URL {
        let absolute = path.hasPrefix("/") ? path : "/" + path
        let escaped = absolute.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? "/"
        guard let url = URL(string: base + absolute) ?? URL(string: base + escaped) else {
            preconditionFailure("A percent-encoded path was refused as part of a URL: \(path)")
        }
        return url
    }

    /// Closes the listening socket and all connections, including those in the middle of a script.
    ///
    /// Waits for closures that are running, and returns when all threads of the server have ended. Called from one of
    /// these closures, which it can't wait for, it returns at once. Further calls only wait.
    public func stop() {
        core.stop()
    }
}
