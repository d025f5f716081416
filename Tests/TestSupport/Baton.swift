#if DEBUG
import Dispatch
import Foundation

/// A token passed from thread to thread: only the thread that has it runs.
typealias Baton = DispatchSemaphore

extension DispatchSemaphore {
    func pass() { signal() }
}

/// A thread that runs one body after another, each when it gets the baton.
///
/// SAFETY: `body` is set by the thread that passes the baton on, and taken by the thread that gets it.
final class ActorThread: @unchecked Sendable {
    let baton = Baton(value: 0)
    private var body: (@Sendable () -> Void)?

    /// - Parameter processor: The processor to run on. On one processor, threads that take turns are several times as
    ///   fast.
    init(on processor: Int) {
        Thread.detachNewThread { [self] in
            Self.stay(on: processor)
            while true {
                baton.wait()
                guard let body else { return }
                self.body = nil
                body()
            }
        }
    }

    func assign(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func stop() {
        body = nil
        baton.pass()
    }

    private static func stay(on processor: Int) {
        #if canImport(Glibc)
        // Missing from the module that Swift makes of this C library.
        typealias SetAffinity = @convention(c) (pid_t, Int, UnsafeRawPointer) -> Int32
        guard let symbol = dlsym(nil, "sched_setaffinity") else { return }
        var processors = [UInt8](repeating: 0, count: 128)
        processors[processor / 8 % processors.count] = 1 << UInt8(processor % 8)
        // If this is not allowed, the threads are only slower.
        _ = unsafeBitCast(symbol, to: SetAffinity.self)(0, processors.count, processors)
        #endif
    }
}
#endif
