internal import DeferredCore
import Dispatch

/// A group of threads that can be waited for until the last of them has ended.
///
/// Each thread, as its last act, joins the one that ended before it. So there is at most one ended thread to join at
/// any time, and joining that thread joins them all.
final class ThreadGroup: Sendable {
    private struct State {
        var running: [ServerThread] = []
        var lastEnded: ServerThread?
    }

    private let state = Lock(State())
    private let runningThreads = DispatchGroup()

    deinit {
        // Needed only if no other thread could wait, because the server was stopped by one of its own threads.
        state.withLock { $0.lastEnded?.detach() }
    }

    /// Runs `body` on a new thread.
    func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        runningThreads.enter()
        do {
            try ServerThread.start { [self] in
                state.withLock { $0.running.append(.current) }
                body()
                end()
            }
        } catch {
            runningThreads.leave()
            throw error
        }
    }

    /// Waits for all threads to end; returns at once on one of these threads, which cannot wait for itself.
    func joinAll() {
        guard !state.withLock({ $0.running.contains(.current) }) else { return }
        runningThreads.wait()
        // No thread takes this lock any more, and a second caller has to wait until the first has joined.
        state.withLock { state in
            state.lastEnded?.join()
            state.lastEnded = nil
        }
    }

    private func end() {
        let predecessor = state.withLock { state in
            state.running.removeAll { $0 == .current }
            defer { state.lastEnded = .current }
            return state.lastEnded
        }
        runningThreads.leave()
        predecessor?.join()
    }
}
