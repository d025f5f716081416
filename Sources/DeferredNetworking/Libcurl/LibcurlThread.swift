#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking

/// The thread of one engine or several, and the queue of its commands.
///
/// It starts with a request. It ends when the last of its engines is gone; one that lingers also ends when none of them
/// has had a request for that long, and then closes their idle connections.
final class LibcurlThread: Sendable {
    /// A message to the thread.
    enum Command {
        case begin(LibcurlTask)
        case cancel(LibcurlTask)
        case hold(LibcurlTask)
        case caughtUp(LibcurlTask)
        case proceed(LibcurlTask)
        case found(NameLookUps.Outcome, LibcurlTask)

        /// Takes connections out of use that may have died with another one.
        case distrust(LibcurlPool, LibcurlPool.DeadConnection)

        /// Calls a closure once everything that has come by now is read.
        case report(@Sendable () -> Void)

        /// Ends all requests of a pool, and closes its connections.
        case close(LibcurlPool)
    }

    /// The thread of engines that are too many for a thread each, such as those of sessions.
    static let shared = LibcurlThread(lingering: .seconds(30))

    private struct State {
        var commands: [Command] = []

        /// The descriptor that wakes the thread up, while there is one.
        var wakeup: Int32?

        /// True if the thread has to be woken up to see a command.
        var isAsleep = false
    }

    /// The time without requests after which the thread ends; nil for no limit.
    let lingering: Duration?

    private let state = Lock(State())

    init(lingering: Duration? = nil) {
        self.lingering = lingering
    }

    /// True while there is a thread.
    var isRunning: Bool { state.withLock { $0.wakeup != nil } }

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
        if let wakeup = state.wakeup {
            if state.isAsleep {
                state.isAsleep = false
                // Under the lock: otherwise, the thread could end, and its descriptor could be reused.
                wakeup_signal(wakeup)
            }
        } else {
            guard case .begin = command else { return false }
            state.wakeup = try start()
        }
        state.commands.append(command)
        return true
    }

    /// Handles a command without a thread: nothing runs, and nothing is open.
    private func undelivered(_ command: Command) {
        switch command {
        case .cancel(let task): task.end(nil, URLError(.cancelled, failing: task.request.url))
        case .close(let pool): pool.closed.fill()
        case .report(let body): body()
        case .begin, .hold, .caughtUp, .proceed, .found, .distrust: break
        }
    }

    /// Starts the thread, and returns the descriptor that wakes it up.
    private func start() throws(POSIXError) -> Int32 {
        let resources = try LibcurlWorker.Resources()
        do {
            try QuietThread.start("Deferred.curl") {
                do {
                    let worker = LibcurlWorker(resources, self)
                    worker.run()
                }
                resources.close()
            }
            return resources.wakeup
        } catch {
            resources.close()
            throw error
        }
    }

    // MARK: The thread's side

    /// Marks the thread as awake: what it does next may send commands, for which it need not be woken up.
    func wake() {
        state.withLock { $0.isAsleep = false }
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
                state.wakeup = nil
                return false
            }
            state.isAsleep = state.commands.isEmpty
            swap(&commands, &state.commands)
            return true
        }
    }
}

/// Starts a thread that blocks all signals.
enum QuietThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// - Parameter name: At most 15 bytes.
    static func start(_ name: StaticString, _ run: @escaping @Sendable () -> Void) throws(POSIXError) {
        let body = Unmanaged.passRetained(Body(run))
        let result = quiet_thread_start(
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            { context in
                guard let context else { return }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            },
            body.toOpaque()
        )
        if result != 0 {
            body.release()
            throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EAGAIN)
        }
    }
}
#endif
