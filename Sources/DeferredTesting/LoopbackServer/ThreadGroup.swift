internal import DeferredCore
import Foundation

/// A group of threads, with 256 KiB of stack each, that can be waited for until the last of them has ended.
final class ThreadGroup: Sendable {
    /// The group that a thread is of.
    private final class Membership {
        var group: ObjectIdentifier?
    }

    private static let membership = ThreadLocal { Membership() }

    private let running = DispatchGroup()

    /// Runs `body` on a new thread.
    func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        running.enter()
        let run = Unmanaged.passRetained(ThreadBody(self, body))
        // Not `pthread_attr_t()`: the compiler attributes this initialiser to Dispatch's C module.
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            pthread_attr_init(attributes.baseAddress!)
            defer { pthread_attr_destroy(attributes.baseAddress!) }
            pthread_attr_setstacksize(attributes.baseAddress!, 256 * 1_024)
            pthread_attr_setdetachstate(attributes.baseAddress!, Int32(PTHREAD_CREATE_DETACHED))
            #if canImport(Glibc) || canImport(Android)
            var thread: pthread_t = 0
            #else
            var thread: pthread_t?
            #endif
            return pthread_create(
                &thread,
                attributes.baseAddress,
                { argument in
                    // Darwin passes a pointer here, Linux an optional one; `as` makes both the same.
                    if let argument = argument as UnsafeMutableRawPointer? {
                        Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().execute()
                    }
                    return nil
                },
                run.toOpaque()
            )
        }
        if code != 0 {
            run.release()
            running.leave()
            throw SystemError(code: code)
        }
    }

    /// Waits until all threads are about to end, and have released what they had; returns at once on one of these threads,
    /// which cannot wait for itself.
    func joinAll() {
        if Self.membership.value.group != ObjectIdentifier(self) { running.wait() }
    }

    /// The work of a thread. Used by one thread after the other.
    private final class ThreadBody {
        private let group: ThreadGroup
        private var run: (@Sendable () -> Void)?

        init(_ group: ThreadGroup, _ run: @escaping @Sendable () -> Void) {
            self.group = group
            self.run = run
        }

        func execute() {
            ThreadGroup.membership.value.group = ObjectIdentifier(group)
            run?()
            // Whoever waits may count what is left of the things that it has captured.
            run = nil
            group.running.leave()
        }
    }
}
