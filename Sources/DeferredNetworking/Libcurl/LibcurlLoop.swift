#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// An event loop that drives the connections of one engine or several on a thread of its own, and the queue of its commands.
///
/// The thread starts with a request. It ends when the last of its engines is gone; one that lingers also ends when none of
/// them has had a request for that long, and then closes their idle connections.
final class LibcurlLoop: Sendable {
    /// An order to the thread.
    ///
    /// Connections are named by the settings of their engine, which they share with no other one.
    enum Command {
        case begin(LibcurlTask)
        case cancel(LibcurlTask)
        case reconsiderPause(LibcurlTask)
        case proceed(LibcurlTask)
        case found(NameLookUps.Outcome, LibcurlTask)

        /// Takes connections out of use that may have died with another one.
        case distrust(LibcurlOptions, LibcurlConnections.Dead)

        /// Calls a closure once everything that has come by now is read.
        case report(@Sendable () -> Void)

        /// Ends all requests of an engine, closes its connections, and fills the future.
        case close(LibcurlOptions, Deferred<Void>)
    }

    /// The loop of engines that are too many for a thread each, such as those of sessions.
    static let shared = LibcurlLoop(lingering: .seconds(30))

    private struct State {
        var commands: [Command] = []

        /// The descriptors that the thread waits for, while there is one.
        var poll: Poll?
    }

    /// The time without requests after which the thread ends; nil for no limit.
    let lingering: Duration?

    private let state = Lock(State())

    /// True if the thread has to be woken up to see a command. Changed under the lock, but for the thread that notes that it
    /// has woken up: whoever holds the lock has just woken it. It orders nothing else: a command that is added when this is
    /// false is seen by the next ``collect(_:isUnused:)``, which takes the lock.
    private let isAsleep = Atomic(false)

    init(lingering: Duration? = nil) {
        self.lingering = lingering
    }

    /// True while there is a thread.
    var isRunning: Bool { state.withLock { $0.poll != nil } }

    /// Sends a command.
    ///
    /// - Returns: The reason why no thread can be started for it, if so.
    @discardableResult
    func submit(_ command: Command) -> POSIXError? {
        do throws(POSIXError) {
            if try !state.withLock({ state throws(POSIXError) in try self.deliver(command, &state) }) {
                undelivered(command)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Returns false if there is no thread, and the command needs none.
    private func deliver(_ command: Command, _ state: inout State) throws(POSIXError) -> Bool {
        if let poll = state.poll {
            // Under the lock: otherwise, the thread could end meanwhile, and its set with it.
            if isAsleep.exchange(false, ordering: .relaxed) { poll_set_wake(poll.set) }
        } else {
            guard case .begin = command else { return false }
            state.poll = try start()
        }
        state.commands.append(command)
        return true
    }

    /// Handles a command without a thread: nothing runs, and nothing is open.
    private func undelivered(_ command: Command) {
        switch command {
        case .cancel(let task): task.endCancelled()
        case .close(_, let closed): closed.fill()
        case .report(let body): body()
        case .begin, .reconsiderPause, .proceed, .found, .distrust: break
        }
    }

    /// The descriptors that a thread waits for, made before it and closed after its end.
    ///
    /// SAFETY: used by the thread only, but for waking it up, which may be done from any thread.
    private struct Poll: @unchecked Sendable {
        let set: poll_set
    }

    /// Starts the thread.
    private func start() throws(POSIXError) -> Poll {
        guard let poll = poll_set_create().map({ Poll(set: $0) }) else { throw POSIXError(POSIXFile.lastError) }
        do {
            try QuietThread.start("Deferred.curl") {
                do {
                    let runner = Runner(poll.set, self)
                    runner.run()
                }
                poll_set_destroy(poll.set)
            }
            return poll
        } catch {
            poll_set_destroy(poll.set)
            throw error
        }
    }

    // MARK: The thread's side

    /// Returns the earlier of two times; nil is never.
    static func earlier<Time: Comparable>(_ one: Time?, _ other: Time?) -> Time? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Marks the thread as awake: what it does next may send commands, for which it need not be woken up.
    func wake() {
        isAsleep.store(false, ordering: .relaxed)
    }

    /// Takes all commands; if there are none, marks the thread as asleep.
    ///
    /// - Parameters:
    ///   - commands: An empty array, in place of which later commands are gathered.
    ///   - isUnused: True if nothing is open, so that the thread isn't needed without a command.
    /// - Returns: false if the thread has to end. Another one may start at once.
    func collect(_ commands: inout [Command], isUnused: Bool) -> Bool {
        state.withLock { state in
            if isUnused, state.commands.isEmpty {
                state.poll = nil
                return false
            }
            isAsleep.store(state.commands.isEmpty, ordering: .relaxed)
            swap(&commands, &state.commands)
            return true
        }
    }
}

extension LibcurlLoop {
    /// The part of a loop that is confined to its thread: waits for sockets, timers and commands, and drives the connections of
    /// the loop's engines.
    final class Runner {
        /// The most times to ask for events before anything else is done.
        private static let mostRounds = 8

        /// The most turns of the loop for commands alone, while they keep coming.
        ///
        /// Before 7.80, libcurl doesn't let each request look at its connection before it is sent, so that the thread has to
        /// look at all of them in each turn: what has come on an idle one would be taken for the response to its next request.
        private static let mostTurns = LibcurlEngine.looksBeforeSending ? 8 : 1

        private let poll: poll_set
        private let loop: LibcurlLoop

        /// Those of each engine that has had a request.
        @exclusivity(unchecked) private var connections: [LibcurlConnections] = []

        /// The multi handles of these, at the numbers that they give to their descriptors.
        private var multis: [LibcurlMulti?] = []

        /// Called once what has come before them is read.
        private var reports: [@Sendable () -> Void] = []

        /// The time since which no engine has had a request.
        private var idleSince: ContinuousClock.Instant?

        init(_ poll: poll_set, _ loop: LibcurlLoop) {
            self.poll = poll
            self.loop = loop
        }

        func run() {
            DeferredDiagnostics.markThreadAsNeeded()
            libcurl_enter()
            withUnsafeTemporaryAllocation(of: poll_ready.self, capacity: Int(POLL_SET_MOST_EVENTS)) { ready in
                var commands: [Command] = []
                var turns = 0
                while loop.collect(&commands, isUnused: connections.isEmpty) {
                    let isAsleep = commands.isEmpty
                    commands.forEach(perform)
                    commands.removeAll(keepingCapacity: true)
                    turns = isAsleep ? 0 : turns + 1
                    if turns % Self.mostTurns == 0 || !reports.isEmpty { handleEvents(ready, isAsleep: isAsleep) }
                    for connections in connections { connections.runTimers() }
                    for connections in connections { connections.deliver() }
                    sendReports()
                    if loop.lingering != nil { closeIfIdle() }
                }
            }
            libcurl_leave()
        }

        private func perform(_ command: Command) {
            switch command {
            case .begin(let task):
                (connections(of: task) ?? makeConnections(for: task)).begin(task)
                // It may come after the command that closes them, which is the last of an engine.
                if task.engine.isInvalidated { closeConnections { $0.options === task.engine.options } }
            case .cancel(let task):
                // Without connections, it has not been let through.
                guard let connections = connections(of: task) else { return task.endCancelled() }
                connections.cancel(task)
            case .reconsiderPause(let task): connections(of: task)?.transfer(of: task)?.reconsiderPause()
            case .proceed(let task): connections(of: task)?.transfer(of: task)?.proceed()
            case .found(let outcome, let task): connections(of: task)?.connector.found(outcome, for: task)
            case .distrust(let options, let dead): connections.first { $0.options === options }?.distrust(dead)
            case .report(let body): reports.append(body)
            case .close(let options, let closed):
                closeConnections { $0.options === options }
                closed.fill()
            }
        }

        private func sendReports() {
            guard !reports.isEmpty else { return }
            let due = reports
            reports = []
            for report in due { report() }
        }

        // MARK: Connections

        private func connections(of task: LibcurlTask) -> LibcurlConnections? {
            connections.first { $0.options === task.engine.options }
        }

        private func makeConnections(for task: LibcurlTask) -> LibcurlConnections {
            let new = LibcurlConnections(task.engine.options, on: self, poll: poll)
            connections.append(new)
            return new
        }

        private func closeConnections(where isClosed: (LibcurlConnections) -> Bool) {
            for connections in connections where isClosed(connections) { connections.close() }
            connections.removeAll(where: isClosed)
        }

        /// Returns a new multi handle, or nil if no memory is available.
        func makeMulti() -> LibcurlMulti? {
            let number = multis.firstIndex { $0 == nil } ?? multis.endIndex
            guard let multi = LibcurlMulti(number: UInt32(number), poll: poll) else { return nil }
            if number == multis.endIndex { multis.append(multi) } else { multis[number] = multi }
            return multi
        }

        /// Closes all connections of a multi handle.
        func destroy(_ multi: LibcurlMulti) {
            multi.destroy()
            multis[Int(multi.number)] = nil
        }

        /// Closes all connections if no engine has had a request for a while. With the next request, there are new ones.
        private func closeIfIdle() {
            guard let lingering = loop.lingering, connections.allSatisfy(\.isIdle) else {
                idleSince = nil
                return
            }
            let since = idleSince ?? .now
            idleSince = since
            if since + lingering <= .now { closeConnections { _ in true } }
        }

        // MARK: Events

        /// Handles what is ready; waits for it if the thread is asleep.
        private func handleEvents(_ ready: UnsafeMutableBufferPointer<poll_ready>, isAsleep: Bool) {
            var milliseconds = isAsleep ? timeToWait : 0
            for _ in 0..<Self.mostRounds {
                let count = wait(ready, milliseconds)
                if isAsleep { loop.wake() }
                for event in ready[..<count] { act(event) }
                if count < ready.count { return }
                milliseconds = 0
            }
        }

        /// The time until something is due, in milliseconds; -1 for ever.
        private var timeToWait: Int32 {
            let end = idleSince.flatMap { since in loop.lingering.map { since + $0 } }
            guard let due = connections.reduce(end, { LibcurlLoop.earlier($0, $1.nextTimer) }) else { return -1 }
            let rest = (due - ContinuousClock.now) / .milliseconds(1)
            return Int32(max(0, min(rest.rounded(.up), 1_000_000)))
        }

        private func wait(_ ready: UnsafeMutableBufferPointer<poll_ready>, _ milliseconds: Int32) -> Int {
            libcurl_leave()
            defer { libcurl_enter() }
            return Int(poll_set_wait(poll, ready.baseAddress, milliseconds))
        }

        private func act(_ event: poll_ready) {
            if event.mask == 0 {
                for connections in connections { connections.wasClosed(event.descriptor) }
            } else if event.owner == AddressRace.owner {
                _ = connections.contains { $0.connector.ended(event.descriptor) }
            } else {
                multis[Int(event.owner)]?.act(event.descriptor, event.mask)
            }
        }
    }
}
#endif
