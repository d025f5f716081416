#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// The requests and the connections of one engine on one thread.
///
/// SAFETY: the constants are thread-safe; all other state is confined to the thread.
final class LibcurlPool: @unchecked Sendable {
    /// The maximum number of idle handles.
    private static let mostIdle = 256

    let thread: LibcurlThread
    let options: LibcurlOptions

    /// Filled when the engine is gone, and all connections are closed.
    let closed = Deferred<Void>()

    /// The running exchanges, by the identifiers of their tasks.
    @exclusivity(unchecked) private var exchanges: [Int: LibcurlExchange] = [:]

    @exclusivity(unchecked) private var handles: [LibcurlHandle] = []
    private var sessions: LibcurlSessions?

    /// The connections that requests may share, and those for one request at a time: libcurl would let a request for
    /// HTTP/1.1 use a connection of HTTP/2 that it knows.
    private var shared: LibcurlMulti?
    private var own: LibcurlMulti?

    private var makeMulti: (() -> LibcurlMulti?)?

    /// The tasks that have waited for a connection, and can start now.
    @exclusivity(unchecked) private var starting: [LibcurlTask] = []

    /// The exchanges that have events to deliver, and those of them whose turn it is.
    @exclusivity(unchecked) private var pending: [LibcurlExchange] = []
    @exclusivity(unchecked) private var flushing: [LibcurlExchange] = []

    init(_ options: LibcurlOptions, on thread: LibcurlThread) {
        self.options = options
        self.thread = thread
    }

    // MARK: The thread's side

    var isOpen: Bool { makeMulti != nil }

    /// True once the engine is gone.
    var isClosed: Bool { closed.isFilled }

    /// True if no request runs.
    var isIdle: Bool { exchanges.isEmpty && starting.isEmpty }

    var nextTimer: ContinuousClock.Instant? {
        guard let first = own?.timer else { return shared?.timer }
        return min(first, shared?.timer ?? first)
    }

    func open(makeMulti: @escaping () -> LibcurlMulti?) {
        self.makeMulti = makeMulti
        sessions = LibcurlSessions()
    }

    /// Ends all requests, and closes all connections.
    ///
    /// - Returns: the multi handles that are gone.
    func close() -> [LibcurlMulti] {
        for exchange in exchanges.values { cancel(exchange) }
        while let task = starting.popLast() { abandon(task) }
        pending = []
        handles = []
        sessions = nil
        makeMulti = nil
        let multis = [own.take(), shared.take()].compactMap(\.self)
        for multi in multis { multi.destroy() }
        return multis
    }

    func runTimers() {
        own?.runTimer()
        shared?.runTimer()
    }

    /// Ends the exchanges that are complete, delivers the events of others, and starts new ones in the places.
    func settle() {
        repeat {
            // The complete ones first: most responses are told of in one step, with their end.
            while let (exchange, code) = own?.nextDone() ?? shared?.nextDone() {
                remove(exchange)
                exchange.end(code)
            }
            // Emptying an array that is also being read would allocate another one each time.
            swap(&pending, &flushing)
            for exchange in flushing where exchange.mustFlush { exchange.flush() }
            flushing.removeAll(keepingCapacity: true)
        } while !pending.isEmpty
        while !starting.isEmpty {
            let tasks = starting
            starting = []
            tasks.forEach(begin)
        }
    }

    /// Returns the running exchange that has the connection.
    ///
    /// - Parameter port: The local port of `socket`, or 0.
    func exchange(using socket: Int32, port: Int) -> LibcurlExchange? {
        exchanges.values.first { $0.isUsing(socket, port: port) }
    }

    func exchange(of task: LibcurlTask) -> LibcurlExchange? { exchanges[task.identifier] }

    // MARK: Reports of exchanges, also from within libcurl's callbacks

    /// Notes that an exchange has events to deliver once libcurl has returned.
    func mustFlush(_ exchange: LibcurlExchange) {
        pending.append(exchange)
    }

    /// Notes that the server will process no stream above the last one on the connection of an exchange.
    func goneAway(after last: Int, on exchange: LibcurlExchange) {
        for other in exchanges.values where other === exchange || other.hasConnection(of: exchange) {
            other.goneAway(after: last)
        }
    }

    /// Notes that a request that may share a connection has one.
    func connected(_ task: LibcurlTask) {
        change(of: task) { $0.connected(to: task.origin) }
    }

    /// Notes that a request that may share a connection got an answer.
    func answered(_ task: LibcurlTask, isMultiplexed: Bool) {
        change(of: task) { $0.answered(at: task.origin, isMultiplexed: isMultiplexed) }
    }

    // MARK: Tasks

    /// Begins a task that the queue has let through.
    func begin(_ task: LibcurlTask) {
        guard !task.isCancelled, !isClosed else { return abandon(task) }
        guard let multi = multi(for: task.kind), let handle = handles.popLast() ?? LibcurlHandle(options, sessions)
        else {
            return refuse(task, "Cannot create a libcurl handle")
        }
        let exchange = LibcurlExchange(task, on: handle, in: self)
        exchanges[task.identifier] = exchange
        guard multi.add(handle) else {
            exchanges[task.identifier] = nil
            return refuse(task, "libcurl refused to start the transfer")
        }
    }

    func multi(for kind: ConnectionQueue.Kind) -> LibcurlMulti? {
        if let multi = kind == .own ? own : shared { return multi }
        guard let multi = makeMulti?() else { return nil }
        multi.limitConnections(perHost: options.maximumConnectionsPerHost, isShared: kind == .shared)
        switch kind {
        case .own: own = multi
        case .shared: shared = multi
        }
        return multi
    }

    private func refuse(_ task: LibcurlTask, _ description: String) {
        leave(task, hadConnected: false)
        task.end(nil, URLError(.unknown, failing: task.request.url, description: description))
    }

    /// Ends a task that the queue has let through, and that has no exchange.
    private func abandon(_ task: LibcurlTask) {
        leave(task, hadConnected: false)
        task.end(nil, URLError(.cancelled, failing: task.request.url))
    }

    func cancel(_ task: LibcurlTask) {
        if let exchange = exchanges[task.identifier] {
            cancel(exchange)
        } else {
            // It has not been let through, or is about to be abandoned.
            task.end(nil, URLError(.cancelled, failing: task.request.url))
        }
    }

    private func cancel(_ exchange: LibcurlExchange) {
        remove(exchange)
        exchange.cancel()
    }

    /// Removes an exchange from its handle, which becomes free for another one.
    private func remove(_ exchange: LibcurlExchange) {
        let task = exchange.task
        exchanges[task.identifier] = nil
        multi(for: task.kind)?.remove(exchange)
        if LibcurlHandle.isReusable, handles.count < Self.mostIdle { handles.append(exchange.handle) }
        leave(task, hadConnected: exchange.hasConnected)
    }

    private func leave(_ task: LibcurlTask, hadConnected: Bool) {
        change(of: task) { $0.left(task.kind, of: task.origin, on: task.thread, hadConnected: hadConnected) }
    }

    private func change(of task: LibcurlTask, _ change: (inout ConnectionQueue) -> Void) {
        starting += task.engine.change(at: task.origin, by: self, change)
    }
}
#endif
