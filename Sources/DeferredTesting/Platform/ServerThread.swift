import Foundation

/// A POSIX thread with a small stack, which has to be joined or detached.
struct ServerThread: Sendable, Equatable {
    /// The bits of a `pthread_t`: an integer with Glibc and on Android, a pointer elsewhere.
    private let bits: UInt

    static var current: ServerThread { ServerThread(pthread_self()) }

    /// Starts a thread with 256 KiB of stack.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let box = Unmanaged.passRetained(Body(run: body))
        #if canImport(Glibc) || canImport(Android)
        var thread: pthread_t = 0
        #else
        var thread: pthread_t?
        #endif
        // Not `pthread_attr_t()`: the compiler attributes this initialiser to Dispatch's C module.
        let code = withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
            pthread_attr_init(attributes.baseAddress!)
            defer { pthread_attr_destroy(attributes.baseAddress!) }
            pthread_attr_setstacksize(attributes.baseAddress!, 256 * 1_024)
            return pthread_create(&thread, attributes.baseAddress, threadMain, box.toOpaque())
        }
        if code != 0 {
            box.release()
            throw SystemError(code: code)
        }
    }

    func join() { pthread_join(handle, nil) }

    func detach() { pthread_detach(handle) }

    #if canImport(Glibc) || canImport(Android)
    private init(_ handle: pthread_t) { bits = UInt(truncatingIfNeeded: handle) }
    private var handle: pthread_t { pthread_t(truncatingIfNeeded: bits) }
    #else
    private init(_ handle: pthread_t) { bits = UInt(bitPattern: handle) }
    // The bits came from a pthread_t, so the pointer is never nil.
    private var handle: pthread_t { pthread_t(bitPattern: bits)! }
    #endif
}

private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Darwin)
private func threadMain(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
#else
private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    argument.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
    return nil
}
#endif
