#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// The connections of one engine on the thread of one loop, the handles for its requests, and the requests that run on them.
/// Confined to the thread.
final class LibcurlConnections {
    /// The maximum number of idle handles.
    private static let mostIdle = 256

    let options: LibcurlOptions
    private(set) lazy var connector = LibcurlConnector(for: self, poll: poll)
    unowned let runner: LibcurlLoop.Runner
    private let poll: poll_set

    /// The running transfers, by the identifiers of their tasks.
    @exclusivity(unchecked) var transfers: [Int: LibcurlTransfer] = [:]

    @exclusivity(unchecked) private var handles: [LibcurlHandle] = []
    private let sessions = LibcurlSessions()

    /// The fields of requests that have none of their own.
    private let plainHeaders: LibcurlHeaders

    /// The connections that requests may share, and those for one request at a time: libcurl would let a request for
    /// HTTP/1.1 use a connection of HTTP/2 that it knows.
    var shared: LibcurlMulti?
    private var own: LibcurlMulti?

    /// Those that requests may share, for the origins whose shared connection has died. Other requests may still wait for
    /// an answer on that one, and libcurl would give it to new ones for as long.
    @exclusivity(unchecked) var renewed: [String: LibcurlMulti] = [:]

    /// All of them, also those that were renewed once more and still have requests.
    @exclusivity(unchecked) var multis: [LibcurlMulti] = []

    /// The tasks that have waited for a connection, and can start now.
    @exclusivity(unchecked) private var starting: [LibcurlTask] = []

    /// The transfers that are not read because of their limits.
    private var limited: [LibcurlTransfer] = []

    /// The transfers that have events to deliver, and those of them whose turn it is.
    @exclusivity(unchecked) private var pending: [LibcurlTransfer] = []
    @exclusivity(unchecked) private var flushing: [LibcurlTransfer] = []

    init(_ options: LibcurlOptions, on runner: LibcurlLoop.Runner, poll: poll_set) {
        self.options = options
        self.runner = runner
        self.poll = poll
        plainHeaders = LibcurlHeaders("User-Agent: \(options.userAgent)", LibcurlHeaders.acceptedCodings)
    }

    /// True if no request runs.
    var isIdle: Bool { transfers.isEmpty && starting.isEmpty }

    var nextTimer: ContinuousClock.Instant? {
        let next = multis.reduce(connector.nextTimer) { LibcurlLoop.earlier($0, $1.timer) }
        return limited.isEmpty ? next : limited.reduce(next) { LibcurlLoop.earlier($0, $1.limitedUntil) }
    }

    /// Ends all requests, and closes all connections. Nothing may be called afterwards.
    func close() {
        for transfer in transfers.values { cancel(transfer) }
        while let task = starting.popLast() { abandon(task) }
        handles = []
        for multi in multis { runner.destroy(multi) }
    }

    func runTimers() {
        if !limited.isEmpty { resumeLimited() }
        for multi in multis { multi.runTimer() }
        connector.runTimers()
    }

    private func resumeLimited() {
        let now = ContinuousClock.now
        let due = limited.filter { $0.mayRead(at: now) }
        limited.removeAll { $0.mayRead(at: now) }
        for transfer in due { transfer.waited() }
    }

    /// Ends the transfers that are complete, delivers the events of others, and starts new ones in the places.
    func deliver() {
        repeat {
            // The complete ones first: most responses are told of in one step, with their end.
            while let (transfer, code) = nextDone() {
                if let hop = transfer.takeHop() {
                    transfer.multi.remove(transfer)
                    connector.begin(transfer, at: hop)
                    continue
                }
                if code != 0, transfer.handle.lacksDescriptors { closeIdle() }
                end(transfer, code)
            }
            // Emptying an array that is also being read would allocate another one each time.
            swap(&pending, &flushing)
            for transfer in flushing where transfer.mustFlush { transfer.flush() }
            flushing.removeAll(keepingCapacity: true)
        } while !pending.isEmpty
        while !starting.isEmpty {
            let tasks = starting
            starting = []
            tasks.forEach(begin)
        }
    }

    private func nextDone() -> (transfer: LibcurlTransfer, code: Int32)? {
        for multi in multis {
            if let done = multi.nextDone() { return done }
        }
        return nil
    }

    func transfer(of task: LibcurlTask) -> LibcurlTransfer? { transfers[task.identifier] }

    func transfer(at socket: LibcurlTransfer.Socket) -> LibcurlTransfer? {
        transfers.values.first { $0.socket == socket }
    }

    /// Ends the request whose response has come on a connection that the server has closed since.
    func wasClosed(_ socket: Int32) {
        transfer(at: .answered(socket))?.endUnsent()
    }

    // MARK: Reports of transfers, also from within libcurl's callbacks

    /// Notes that a transfer has events to deliver once libcurl has returned.
    func mustFlush(_ transfer: LibcurlTransfer) {
        pending.append(transfer)
    }

    /// Notes that a transfer is not read before its ``LibcurlTransfer/limitedUntil``.
    func willWait(_ transfer: LibcurlTransfer) {
        limited.append(transfer)
    }

    /// Notes that the server will process no stream above the last one on the connection of a transfer.
    func goneAway(after last: Int, on transfer: LibcurlTransfer) {
        for other in transfers.values where other === transfer || other.hasConnection(of: transfer) {
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
        guard !task.isCancelled, !task.engine.isInvalidated else { return abandon(task) }
        guard let multi = multi(for: task),
            let handle = handles.popLast()
                ?? LibcurlHandle(options, sessions, plainHeaders: plainHeaders, poll: poll)
        else { return refuse(task, "Cannot create a libcurl handle") }
        let transfer = LibcurlTransfer(task, on: handle, of: multi, in: self)
        transfers[task.identifier] = transfer
        start(transfer)
    }

    private func start(_ transfer: LibcurlTransfer) {
        if transfer.multi.add(transfer) { return }
        let (url, description) = (transfer.task.request.url, "libcurl refused to start the transfer")
        end(transfer, Int32(CURLE_OK), URLError(.unknown, failing: url, description: description))
    }

    private func multi(for task: LibcurlTask) -> LibcurlMulti? {
        if task.kind == .shared, !renewed.isEmpty, let multi = renewed[task.origin] { return multi }
        if let multi = task.kind == .own ? own : shared { return multi }
        let multi = makeMulti(isShared: task.kind == .shared)
        switch task.kind {
        case .own: own = multi
        case .shared: shared = multi
        }
        return multi
    }

    func makeMulti(isShared: Bool) -> LibcurlMulti? {
        guard let multi = runner.makeMulti() else { return nil }
        multi.connections = self
        multi.limitConnections(perHost: options.maximumConnectionsPerHost, isShared: isShared)
        multis.append(multi)
        return multi
    }

    /// Begins a request again, which libcurl has stopped to let a name be looked up.
    ///
    /// - Parameters:
    ///   - address: The address of the name; nil lets libcurl look it up.
    ///   - socket: A connection to it, if there is one.
    func restart(_ transfer: LibcurlTransfer, at hop: LibcurlHop, _ address: String?, socket: Int32? = nil) {
        transfer.handle.restart(transfer, at: hop, address, socket: socket)
        if transfer.rewind() { start(transfer) } else { fail(transfer) }
    }

    /// Ends a request without a connection.
    func fail(_ transfer: LibcurlTransfer, _ error: URLError? = nil) {
        if (error?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .EMFILE { closeIdle() }
        end(transfer, Int32(CURLE_COULDNT_CONNECT), error)
    }

    /// Removes a transfer, and reports its end.
    func end(_ transfer: LibcurlTransfer, _ code: Int32, _ error: URLError? = nil) {
        remove(transfer, hasAnswered: transfer.hasAnswer)
        transfer.end(code, error)
    }

    // MARK: Ends

    private func refuse(_ task: LibcurlTask, _ description: String) {
        leave(task, hadConnected: false)
        task.end(nil, URLError(.unknown, failing: task.request.url, description: description))
    }

    /// Ends a task that the queue has let through, and that has no transfer.
    private func abandon(_ task: LibcurlTask) {
        leave(task, hadConnected: false)
        task.endCancelled()
    }

    func cancel(_ task: LibcurlTask) {
        if let transfer = transfers[task.identifier] {
            cancel(transfer)
        } else {
            // It has not been let through, or is about to be abandoned.
            task.endCancelled()
        }
    }

    private func cancel(_ transfer: LibcurlTransfer) {
        let dead = transfer.deadConnection
        let task = transfer.task
        remove(transfer)
        transfer.cancel()
        guard var dead else { return }
        // libcurl closes a connection of HTTP/1.1 with its request. If the origin has newer ones, they are not to blame.
        let isCurrent = task.kind == .shared && multi(for: task) === transfer.multi
        dead.isShared = isCurrent && transfer.multi.socket(of: dead) >= 0
        if dead.isShared { change(of: task) { $0.renewed(task.origin) } }
        distrust(dead)
        task.engine.distrust(dead, exceptOn: task.thread)
    }

    /// Removes a transfer from its handle, which becomes free for another one.
    ///
    /// - Parameter hasAnswered: True if the server has answered it.
    private func remove(_ transfer: LibcurlTransfer, hasAnswered: Bool = false) {
        let task = transfer.task
        transfers[task.identifier] = nil
        connector.forget(task)
        if transfer.limitedUntil != nil { limited.removeAll { $0 === transfer } }
        transfer.multi.remove(transfer)
        // Libcurl reports the end of the socket's use, which may tell of an end that isn't this one.
        transfer.mustFlush = false
        removeRetired(transfer.multi)
        if !transfer.handle.isSpent, handles.count < Self.mostIdle { handles.append(transfer.handle) }
        leave(task, hadConnected: transfer.hasConnected, hasAnswered: hasAnswered)
    }

    private func leave(_ task: LibcurlTask, hadConnected: Bool, hasAnswered: Bool = false) {
        let now: ContinuousClock.Instant? = hasAnswered ? .now : nil
        change(of: task) {
            $0.left(task.kind, of: task.origin, on: task.thread, hadConnected: hadConnected, lastReceived: now)
        }
    }

    private func change(of task: LibcurlTask, _ change: (inout ConnectionQueue) -> Void) {
        for next in task.engine.change(at: task.origin, on: task.thread, change) { starting.append(next) }
    }
}
#endif
