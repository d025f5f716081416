#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// The requests and the connections of one engine.
///
/// SAFETY: the constants and the counter are thread-safe; all other state is confined to the thread.
final class LibcurlPool: @unchecked Sendable {
    /// The maximum number of idle handles.
    private static let mostIdle = 256

    let thread: LibcurlThread
    let options: LibcurlOptions

    /// Filled when the engine is gone, and all connections are closed.
    let closed = Deferred<Void>()

    private let lastIdentifier = Atomic(0)

    private var queue: ConnectionQueue

    /// The tasks that wait for a connection, by their identifiers.
    private var waiting: [Int: LibcurlTask] = [:]

    /// The running exchanges, by the identifiers of their tasks.
    private var exchanges: [Int: LibcurlExchange] = [:]

    private var handles: [LibcurlHandle] = []

    /// The connections that requests may share, and those for one request at a time: libcurl would let a request for
    /// HTTP/1.1 use a connection of HTTP/2 that it knows.
    private var shared: LibcurlMulti?
    private var own: LibcurlMulti?

    private var makeMulti: (() -> LibcurlMulti?)?

    /// The origins at which other tasks may be able to start.
    private var moved: [String] = []

    /// The exchanges that have events to deliver, and those of them whose turn it is.
    private var pending: [LibcurlExchange] = []
    private var flushing: [LibcurlExchange] = []

    init(_ options: LibcurlOptions, on thread: LibcurlThread) {
        self.options = options
        self.thread = thread
        queue = ConnectionQueue(limit: options.maximumConnectionsPerHost)
    }

    /// Returns the identifier of a new task.
    func nextIdentifier() -> Int { lastIdentifier.add(1, ordering: .relaxed).newValue }

    // MARK: The thread's side

    var isOpen: Bool { makeMulti != nil }

    /// True if no request runs or waits.
    var isIdle: Bool { exchanges.isEmpty && waiting.isEmpty }

    var nextTimer: ContinuousClock.Instant? {
        guard let first = own?.timer else { return shared?.timer }
        return min(first, shared?.timer ?? first)
    }

    func open(makeMulti: @escaping () -> LibcurlMulti?) {
        self.makeMulti = makeMulti
    }

    /// Ends all requests, and closes all connections.
    ///
    /// - Returns: the multi handles that are gone.
    func close() -> [LibcurlMulti] {
        for task in waiting.values { cancelWaiting(task) }
        for exchange in exchanges.values { cancel(exchange) }
        startWaiting()
        pending = []
        handles = []
        makeMulti = nil
        let multis = [own.take(), shared.take()].compactMap(\.self)
        for multi in multis { multi.destroy() }
        return multis
    }

    func runTimers() {
        own?.runTimer()
        shared?.runTimer()
    }

    /// Delivers pending events, ends the exchanges that are complete, and starts others in their places.
    func settle() {
        while !pending.isEmpty {
            // Emptying an array that is also being read would allocate another one each time.
            swap(&pending, &flushing)
            for exchange in flushing where exchange.mustFlush { exchange.flush() }
            flushing.removeAll(keepingCapacity: true)
        }
        while let (exchange, code) = own?.nextDone() ?? shared?.nextDone() {
            remove(exchange)
            exchange.end(code)
        }
        startWaiting()
    }

    func exchange(of task: LibcurlTask) -> LibcurlExchange? { exchanges[task.identifier] }

    // MARK: Reports of exchanges, also from within libcurl's callbacks

    /// Notes that an exchange has events to deliver once libcurl has returned.
    func mustFlush(_ exchange: LibcurlExchange) {
        pending.append(exchange)
    }

    /// Notes that a request that may share a connection has one.
    func connected(_ task: LibcurlTask) {
        queue.connected(to: task.origin)
        moved.append(task.origin)
    }

    /// Notes that a request that may share a connection got an answer.
    func answered(_ task: LibcurlTask, isMultiplexed: Bool) {
        queue.answered(at: task.origin, isMultiplexed: isMultiplexed)
        moved.append(task.origin)
    }

    // MARK: Tasks

    func begin(_ task: LibcurlTask) {
        guard !task.isCancelled else { return cancelWaiting(task) }
        if queue.arrived(task.identifier, task.kind, at: task.origin) {
            start(task)
        } else {
            waiting[task.identifier] = task
        }
    }

    func cancel(_ task: LibcurlTask) {
        if let exchange = exchanges[task.identifier] { cancel(exchange) } else { cancelWaiting(task) }
    }

    /// Starts tasks that wait for a connection, where there is room now.
    private func startWaiting() {
        while let origin = moved.popLast() {
            while let (identifier, _) = queue.next(at: origin) {
                if let task = waiting.removeValue(forKey: identifier) { start(task) }
            }
        }
    }

    private func start(_ task: LibcurlTask) {
        guard let multi = multi(for: task.kind), let handle = handles.popLast() ?? LibcurlHandle(options) else {
            return refuse(task, "Cannot create a libcurl handle")
        }
        let exchange = LibcurlExchange(task, on: handle, in: self)
        exchanges[task.identifier] = exchange
        guard multi.add(handle) else {
            exchanges[task.identifier] = nil
            return refuse(task, "libcurl refused to start the transfer")
        }
    }

    private func multi(for kind: ConnectionQueue.Kind) -> LibcurlMulti? {
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

    /// Ends a task that has no exchange.
    private func cancelWaiting(_ task: LibcurlTask) {
        if waiting.removeValue(forKey: task.identifier) != nil { queue.remove(task.identifier) }
        task.end(nil, URLError(.cancelled, failing: task.request.url))
    }

    private func cancel(_ exchange: LibcurlExchange) {
        remove(exchange)
        exchange.cancel()
    }

    /// Removes an exchange from its handle, which becomes free for another one.
    private func remove(_ exchange: LibcurlExchange) {
        let task = exchange.task
        exchanges[task.identifier] = nil
        multi(for: task.kind)?.remove(exchange.handle)
        if handles.count < Self.mostIdle { handles.append(exchange.handle) }
        leave(task, hadConnected: exchange.hasConnected)
    }

    private func leave(_ task: LibcurlTask, hadConnected: Bool) {
        queue.left(task.kind, of: task.origin, hadConnected: hadConnected)
        moved.append(task.origin)
    }
}
#endif
