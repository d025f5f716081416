#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation

/// The event loop of a thread: waits for sockets, timers and commands, and drives the pools of its engines. All its state
/// is confined to the thread.
final class LibcurlWorker {
    /// Made before the thread: its poll set, and the descriptor that wakes it up.
    ///
    /// SAFETY: the poll set is used by the thread only, and closed after its end or if it can't be started.
    struct Resources: @unchecked Sendable {
        let poll: poll_set
        let wakeup: Int32

        init() throws(POSIXError) {
            wakeup = wakeup_create()
            guard wakeup >= 0 else { throw POSIXError(POSIXFile.lastError) }
            guard let poll = poll_set_create() else {
                let error = POSIXError(POSIXFile.lastError)
                _ = Foundation.close(wakeup)
                throw error
            }
            self.poll = poll
            poll_set_watch(poll, wakeup, 0, Int32(CURL_POLL_IN))
        }

        func close() {
            poll_set_destroy(poll)
            _ = Foundation.close(wakeup)
        }
    }

    /// The most times to ask for events before anything else is done.
    private static let mostRounds = 8

    /// The most turns of the loop for commands alone, while they keep coming.
    ///
    /// Before 7.80, libcurl doesn't let each request look at its connection before it is sent, so that the thread has to
    /// look at all of them in each turn: what has come on an idle one would be taken for the response to its next request.
    private static let mostTurns = LibcurlEngine.looksBeforeSending ? 8 : 1

    private let resources: Resources
    private let thread: LibcurlThread

    /// The pools that have, or may have, connections.
    @exclusivity(unchecked) private var pools: [LibcurlPool] = []

    /// The multi handles of these pools, at the numbers that they give to their descriptors.
    private var multis: [LibcurlMulti?] = []

    /// Called once what has come before them is read.
    private var reports: [@Sendable () -> Void] = []

    /// The time since which no pool has had a request.
    private var idleSince: ContinuousClock.Instant?

    init(_ resources: Resources, _ thread: LibcurlThread) {
        self.resources = resources
        self.thread = thread
    }

    func run() {
        DeferredDiagnostics.markThreadAsNeeded()
        libcurl_enter()
        withUnsafeTemporaryAllocation(of: poll_ready.self, capacity: Int(POLL_SET_MOST_EVENTS)) { ready in
            var commands: [LibcurlThread.Command] = []
            var turns = 0
            while thread.collect(&commands, isUnused: pools.isEmpty) {
                let isAsleep = commands.isEmpty
                commands.forEach(perform)
                commands.removeAll(keepingCapacity: true)
                turns = isAsleep ? 0 : turns + 1
                if turns % Self.mostTurns == 0 || !reports.isEmpty { handleEvents(ready, isAsleep: isAsleep) }
                for pool in pools { pool.runTimers() }
                for pool in pools { pool.settle() }
                sendReports()
                if thread.lingering != nil { closeIfIdle() }
            }
        }
        libcurl_leave()
    }

    private func perform(_ command: LibcurlThread.Command) {
        switch command {
        case .begin(let task):
            open(task.pool)
            task.pool.begin(task)
        case .cancel(let task): task.pool.cancel(task)
        case .hold(let task): task.pool.transfer(of: task)?.reconsiderHold()
        case .caughtUp(let task): task.pool.transfer(of: task)?.caughtUp()
        case .proceed(let task): task.pool.transfer(of: task)?.proceed()
        case .found(let outcome, let task): task.pool.connector?.found(outcome, for: task)
        case .distrust(let pool, let connection): pool.distrust(connection)
        case .report(let body): reports.append(body)
        case .close(let pool):
            close(pool)
            pool.closed.fill()
        }
    }

    private func sendReports() {
        guard !reports.isEmpty else { return }
        let due = reports
        reports = []
        for report in due { report() }
    }

    // MARK: Pools

    private func open(_ pool: LibcurlPool) {
        guard !pool.isOpen, !pool.isClosed else { return }
        pools.append(pool)
        pool.open(on: self, poll: resources.poll)
    }

    /// Returns a new multi handle, or nil if no memory is available.
    func makeMulti() -> LibcurlMulti? {
        let number = multis.firstIndex { $0 == nil } ?? multis.endIndex
        // The wake-up descriptor has the number 0.
        guard let multi = LibcurlMulti(number: UInt32(number + 1), poll: resources.poll) else { return nil }
        if number == multis.endIndex { multis.append(multi) } else { multis[number] = multi }
        return multi
    }

    /// Closes all connections of a multi handle.
    func destroy(_ multi: LibcurlMulti) {
        multi.destroy()
        multis[Int(multi.number) - 1] = nil
    }

    private func close(_ pool: LibcurlPool) {
        guard pool.isOpen else { return }
        pools.removeAll { $0 === pool }
        pool.close()
    }

    /// Closes all pools if none has had a request for a while. With the next request, they are opened again.
    private func closeIfIdle() {
        guard let lingering = thread.lingering, pools.allSatisfy(\.isIdle) else {
            idleSince = nil
            return
        }
        let since = idleSince ?? .now
        idleSince = since
        if since + lingering <= .now {
            for pool in pools { close(pool) }
        }
    }

    // MARK: Events

    /// Handles what is ready; waits for it if the thread is asleep.
    private func handleEvents(_ ready: UnsafeMutableBufferPointer<poll_ready>, isAsleep: Bool) {
        var milliseconds = isAsleep ? timeToWait : 0
        for _ in 0..<Self.mostRounds {
            let count = wait(ready, milliseconds)
            if isAsleep { thread.wake() }
            for event in ready[..<count] { act(event) }
            if count < ready.count { return }
            milliseconds = 0
        }
    }

    /// The time until something is due, in milliseconds; -1 for ever.
    private var timeToWait: Int32 {
        var due = pools.lazy.compactMap(\.nextTimer).min()
        if let idleSince, let lingering = thread.lingering {
            let end = idleSince + lingering
            due = min(due ?? end, end)
        }
        guard let due else { return -1 }
        let rest = (due - ContinuousClock.now) / .milliseconds(1)
        return Int32(max(0, min(rest.rounded(.up), 1_000_000)))
    }

    private func wait(_ ready: UnsafeMutableBufferPointer<poll_ready>, _ milliseconds: Int32) -> Int {
        libcurl_leave()
        defer { libcurl_enter() }
        return Int(poll_set_wait(resources.poll, ready.baseAddress, milliseconds))
    }

    private func act(_ event: poll_ready) {
        if event.owner == 0 {
            wakeup_clear(resources.wakeup)
        } else if event.owner == AddressRace.owner {
            _ = pools.contains { $0.connector?.ended(event.descriptor) == true }
        } else {
            multis[Int(event.owner) - 1]?.act(event.descriptor, event.mask)
        }
    }
}
#endif
