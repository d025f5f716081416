#if os(Linux)
import CLibcurl
package import DeferredCore
package import Foundation
import FoundationNetworking
import Synchronization

/// Sends requests over libcurl, on threads of its own or on one that it shares with other engines: lets them wait for a
/// connection, and divides them among the threads.
///
/// Engines that share a thread share nothing else: each has its settings, its limits and its connections.
///
/// Redirects and challenges are reported like other responses, and handled by the exchange.
package final class LibcurlEngine: Engine {
    private struct State {
        var queue: ConnectionQueue

        /// The tasks that wait for a connection, by their identifiers.
        var waiting: [Int: LibcurlTask] = [:]

        /// Assigns a task to the thread that the queue has chosen.
        mutating func next(at origin: String) -> LibcurlTask? {
            while let start = queue.next(at: origin) {
                guard let task = waiting.removeValue(forKey: start.task) else { continue }
                task.thread = start.thread
                return task
            }
            return nil
        }
    }

    let options: LibcurlOptions

    /// Each with a thread for connections of the engine.
    let loops: [LibcurlLoop]

    /// For each of the loops, filled when the engine is gone, and its connections there are closed.
    private let closed: [Deferred<Void>]
    private let state: Lock<State>
    private let lastIdentifier = Atomic(0)
    private let wasInvalidated = Atomic(false)

    package let defaultHeaders: [String: String]

    package let cookies: CookieJar?

    package let idleTimeout: Duration?

    package var hasTimeouts: Bool { false }

    package var streamsMessages: Bool { true }

    package var invalidated: Future<Void> { closed.map(\.future).allFilled().map { _ in } }

    /// - Parameter loops: The loops that drive libcurl, and on whose threads users' closures are called; nil for as many of
    ///   its own as the configuration allows. The threads start when they are needed.
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` if libcurl is missing or too old.
    convenience init(
        _ configuration: URLClient.Configuration,
        on loops: [LibcurlLoop]? = nil,
        lookUps: NameLookUps = .shared
    ) throws(URLClientError) {
        let count = max(1, min(configuration.maximumThreads, ConnectionQueue.mostThreads))
        let loops = loops ?? (0..<count).map { _ in LibcurlLoop() }
        let cookies = configuration.cookies.map { CookieJar($0) }
        try self.init(configuration, cookies, idleTimeout: nil, on: loops, lookUps: lookUps)
    }

    /// Creates an engine with the settings of a user's session, on the thread that all such engines share.
    ///
    /// - Throws: ``URLClientError/Code/engineUnavailable(reason:)`` if libcurl is missing or too old.
    convenience init(session: URLSessionConfiguration) throws(URLClientError) {
        var configuration = URLClient.Configuration()
        configuration.session = session
        configuration.maximumConnectionsPerHost = session.httpMaximumConnectionsPerHost
        let timeout = TimeoutRounding.repaired(session.timeoutIntervalForRequest)
        try self.init(configuration, CookieJar(session), idleTimeout: .seconds(timeout), on: [.shared])
    }

    private init(
        _ configuration: URLClient.Configuration,
        _ cookies: CookieJar?,
        idleTimeout: Duration?,
        on loops: [LibcurlLoop],
        lookUps: NameLookUps = .shared
    ) throws(URLClientError) {
        if let reason = Self.unavailability { throw .engineUnavailable(reason: reason) }
        defaultHeaders = configuration.defaultHeaders
        self.cookies = cookies
        self.idleTimeout = idleTimeout
        let options = try LibcurlOptions(configuration, lookUps: lookUps)
        self.options = options
        self.loops = loops
        closed = loops.map { _ in Deferred() }
        let queue = ConnectionQueue(limit: options.maximumConnectionsPerHost, threads: loops.count)
        state = Lock(State(queue: queue))
    }

    /// The reason why libcurl can't be used, if there is one. The first look loads it.
    static var unavailability: String? {
        var reason: UnsafePointer<CChar>?
        if libcurl_load(&reason) != 0 { return nil }
        return reason.map { String(cString: $0) } ?? "libcurl.so.4 can't be opened"
    }

    /// The version of libcurl as a number, such as 0x075801; 0 if it is not available.
    static var versionNumber: UInt32 {
        var reason: UnsafePointer<CChar>?
        return libcurl_load(&reason)
    }

    /// True since 7.80: libcurl tells when a request is about to be sent.
    static let looksBeforeSending = versionNumber >= 0x07_50_00

    /// The version of libcurl, which must be available.
    static var version: String { String(cString: libcurl_version()) }

    deinit {
        close()
    }

    /// Refuses an IPv6 zone that this machine doesn't have: libcurl would ignore it. Before 7.85, libcurl also takes any host
    /// for a name.
    package func check(_ url: URL) throws(URLClientError) {
        guard let host = IPv6Literals.literal(in: url) else {
            guard Self.versionNumber < 0x07_55_00, let host = url.host(percentEncoded: false) else { return }
            let isName = host.utf8.count <= 0xFFFF && !host.contains(where: " \t/:#?!@{}[]\\$'\"^`*<>=;,+&()".contains)
            if !isName { throw CheckedRequest.refusal(of: url) }
            return
        }
        guard let delimiter = host.range(of: "%25") else { return }
        let zone = String(host[delimiter.upperBound...])
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_nametoindex(zone) > 0 || UInt32(zone).map({ if_indextoname($0, &name) != nil }) ?? false else {
            throw .invalidRequest(
                reason: "the zone \(DisplayText.quoted(zone)) of the host \(DisplayText.quoted(host)) is not a network "
                    + "interface of this machine; use the name or the number of one, as in \"[fe80::1%25eth0]\""
            )
        }
    }

    package func checkTrailers() throws(URLClientError) {
        guard options.httpVersion != .http2 else {
            throw .invalidRequest(
                reason: "libcurl sends no trailers over HTTP/2; leave the client's httpVersion at nil"
            )
        }
    }

    package func makeTask(for request: CheckedRequest, of exchange: Exchange, as number: Int) -> any EngineTask {
        LibcurlTask(request, of: exchange, as: number, in: self)
    }

    /// Ends all requests, and closes all connections.
    package func invalidate() {
        let tasks = state.withLock { state in
            for identifier in state.waiting.keys { state.queue.remove(identifier) }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for task in tasks { task.cancel() }
        close()
    }

    /// True once no task may begin.
    var isInvalidated: Bool { wasInvalidated.load(ordering: .sequentiallyConsistent) }

    private func close() {
        wasInvalidated.store(true, ordering: .sequentiallyConsistent)
        for (loop, closed) in zip(loops, closed) { loop.submit(.close(options, closed)) }
    }

    // MARK: Tasks

    /// Returns the identifier of a new task.
    func nextIdentifier() -> Int { lastIdentifier.add(1, ordering: .relaxed).newValue }

    /// Begins a task, or lets it wait. One that was cancelled has ended, or is about to.
    func resume(_ task: LibcurlTask) {
        let mayRun = state.withLock { state in
            guard !task.isCancelled else { return false }
            guard let thread = state.queue.arrived(task.identifier, task.kind, at: task.origin) else {
                state.waiting[task.identifier] = task
                return false
            }
            task.thread = thread
            return true
        }
        if mayRun { begin(task) }
    }

    /// Ends a task that is marked as cancelled.
    func cancel(_ task: LibcurlTask) {
        state.withLock { state in
            if state.waiting.removeValue(forKey: task.identifier) != nil { state.queue.remove(task.identifier) }
        }
        task.loop.submit(.cancel(task))
    }

    /// The time since a request to the origin got something; nil if none has.
    func silence(at origin: String) -> Duration? {
        state.withLock { $0.queue.lastReceived(at: origin) }.map { .now - $0 }
    }

    /// Notes that a request to the origin got something, or could get nothing before a time to come.
    func received(at origin: String, _ time: ContinuousClock.Instant = .now) {
        state.withLock { $0.queue.received(at: origin, time) }
    }

    /// Calls a closure once all threads, one after the other, have read what has come.
    func afterReading(_ body: @escaping @Sendable () -> Void, from index: Int = 0) {
        guard index < loops.count else { return body() }
        loops[index].submit(.report { self.afterReading(body, from: index + 1) })
    }

    /// Changes the queue, and begins the tasks for which there is room then.
    ///
    /// - Returns: those that run on the caller's thread, which begins them itself.
    func change(
        at origin: String,
        on thread: Int,
        _ change: (inout ConnectionQueue) -> Void
    ) -> [LibcurlTask] {
        let tasks = next(at: origin, after: change)
        guard loops.count > 1 else { return tasks }
        for task in tasks where task.thread != thread { begin(task) }
        return tasks.filter { $0.thread == thread }
    }

    /// Lets the other threads know of a dead connection.
    func distrust(_ dead: LibcurlConnections.Dead, exceptOn thread: Int) {
        for (index, loop) in loops.enumerated() where index != thread { loop.submit(.distrust(options, dead)) }
    }

    private func next(at origin: String, after change: (inout ConnectionQueue) -> Void) -> [LibcurlTask] {
        state.withLock { state in
            change(&state.queue)
            var tasks: [LibcurlTask] = []
            while let task = state.next(at: origin) { tasks.append(task) }
            return tasks
        }
    }

    private func begin(_ task: LibcurlTask) {
        guard let failure = task.loop.submit(.begin(task)) else { return }
        // One that can't begin makes room for the next, which can't either, and so on.
        Trampoline.perform {
            let next = self.next(at: task.origin) {
                $0.left(task.kind, of: task.origin, on: task.thread, hadConnected: false)
            }
            task.end(nil, Self.error(failure, of: task))
            next.forEach(self.begin)
        }
    }

    private static func error(_ failure: POSIXError, of task: LibcurlTask) -> URLError {
        let reason = String(cString: strerror(failure.code.rawValue))
        let text = "Cannot start a thread: \(reason); raise the limits of the process (see ulimit -n, -u and -v)"
        return URLError(.unknown, failing: task.request.url, description: text)
    }
}
#endif
