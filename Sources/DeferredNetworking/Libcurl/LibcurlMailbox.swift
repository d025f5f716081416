#if os(Linux)
import CLibcurl
internal import DeferredCore
import Foundation
import FoundationNetworking
import Synchronization

/// The queue of an engine's thread, and the thread's life: it starts with the first request and ends with the engine.
final class LibcurlMailbox: Sendable {
    enum Letter {
        case begin(LibcurlTask)
        case cancel(LibcurlTask)
        case hold(LibcurlTask)
        case caughtUp(LibcurlTask)
        case proceed(LibcurlTask)
    }

    private struct State {
        var letters: [Letter] = []
        var life = Life.notStarted

        /// True if the thread has to be woken up to see a letter.
        var isAsleep = false
    }

    private enum Life {
        case notStarted
        case running(wakeup: Int32)

        /// The thread ends when it sees this state.
        case stopping
        case stopped
    }

    /// Filled when the thread, if there was one, has released everything.
    let stopped = Deferred<Void>()

    private let options: LibcurlOptions
    private let state = Lock(State())
    private let lastIdentifier = Atomic(0)

    init(_ options: LibcurlOptions) {
        self.options = options
    }

    /// Returns the identifier of a new task.
    func nextIdentifier() -> Int { lastIdentifier.add(1, ordering: .relaxed).newValue }

    func submit(_ letter: Letter) {
        let mustStart = state.withLock { state in
            switch state.life {
            case .notStarted:
                state.letters.append(letter)
                return true
            case .running(let wakeup):
                state.letters.append(letter)
                if state.isAsleep {
                    state.isAsleep = false
                    // Under the lock: otherwise, the thread could end, and its descriptor could be reused.
                    wakeup_signal(wakeup)
                }
                return false
            case .stopping:
                state.letters.append(letter)
                return false
            case .stopped:
                // The letter is about a task that has ended.
                return false
            }
        }
        if mustStart { start() }
    }

    /// Ends the thread. Only for an engine without tasks.
    func stop() {
        let hasNoThread = state.withLock { state in
            switch state.life {
            case .notStarted:
                state.life = .stopped
                return true
            case .running(let wakeup):
                state.life = .stopping
                wakeup_signal(wakeup)
                return false
            case .stopping, .stopped:
                return false
            }
        }
        if hasNoThread { stopped.fill() }
    }

    // MARK: The thread's side

    /// Takes all letters; if there are none, marks the thread as asleep.
    ///
    /// - Returns: nil if the thread has to end.
    func collect() -> [Letter]? {
        state.withLock { state in
            if case .stopping = state.life, state.letters.isEmpty { return nil }
            state.isAsleep = state.letters.isEmpty
            defer { state.letters.removeAll(keepingCapacity: true) }
            return state.letters
        }
    }

    private func start() {
        // Two callers may get here at once: the first one starts the thread.
        let failure = state.withLock { state -> (letters: [Letter], cause: POSIXError)? in
            guard case .notStarted = state.life else { return nil }
            do throws(POSIXError) {
                state.life = .running(wakeup: try startThread())
                return nil
            } catch {
                defer { state.letters = [] }
                return (state.letters, error)
            }
        }
        guard let failure else { return }
        for case .begin(let task) in failure.letters {
            let reason = String(cString: strerror(failure.cause.code.rawValue))
            let text = "Cannot start a thread: \(reason)"
            task.end(nil, URLError(.unknown, failing: task.request.url, description: text))
        }
    }

    /// Returns the descriptor that wakes the thread up.
    private func startThread() throws(POSIXError) -> Int32 {
        let resources = try LibcurlWorker.Resources()
        do {
            try LibcurlThread.start { self.run(resources) }
            return resources.wakeup
        } catch {
            resources.close()
            throw error
        }
    }

    private func run(_ resources: LibcurlWorker.Resources) {
        do {
            let worker = LibcurlWorker(resources, options, self)
            worker.run()
        }
        state.withLock { $0.life = .stopped }
        resources.close()
        stopped.fill()
    }
}

/// Starts the engine's thread.
enum LibcurlThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    static func start(_ run: @escaping @Sendable () -> Void) throws(POSIXError) {
        let body = Unmanaged.passRetained(Body(run))
        let result = quiet_thread_start(
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
