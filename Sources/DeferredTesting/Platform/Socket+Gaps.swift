internal import CDeferred
import Foundation

// Differences between Linux and Darwin. There are no upstream issues: the calls differ by design.

extension Socket {
    /// Creates a socket of this family that does not block and is not inherited by child processes.
    static func make(_ family: Int32) throws(SystemError) -> Socket {
        let descriptor = socket(family, privateStream, 0)
        guard descriptor >= 0 else { throw .current }
        Socket.keepPrivate(descriptor)
        return Socket(descriptor: descriptor)
    }

    /// Returns the two ends of a connection within the process, which don't block and aren't inherited either.
    static func makePair() throws(SystemError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, privateStream, 0, &ends) == 0 else { throw .current }
        ends.forEach(Socket.keepPrivate)
        return (ends[0], ends[1])
    }

    #if canImport(Darwin)
    private static let privateStream = SOCK_STREAM
    #elseif canImport(Glibc)
    private static let privateStream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    #else
    private static let privateStream = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK
    #endif

    /// Calls `accept`; the new descriptor does not block and is not inherited either. On Darwin it causes no SIGPIPE;
    /// Linux has only the flag of `send` for that.
    func acceptDescriptor() -> Int {
        #if canImport(Darwin)
        let accepted = Foundation.accept(descriptor, nil, nil)
        if accepted >= 0 {
            Socket.keepPrivate(accepted)
            Socket(descriptor: accepted).enable(SO_NOSIGPIPE, at: SOL_SOCKET)
        }
        #else
        let accepted = deferred_accept(descriptor)
        #endif
        return Int(accepted)
    }

    // The flags of `send`, so that it causes no SIGPIPE.
    #if canImport(Darwin)
    static let sendFlags: Int32 = 0
    #else
    static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// The number of bytes handed to `send` that the peer's system has not acknowledged.
    var unacknowledgedByteCount: Int {
        var count: Int32 = 0
        #if canImport(Darwin)
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &size)
        #else
        _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        #endif
        return Int(count)
    }

    func enable(_ option: Int32, at level: Int32) {
        var on: Int32 = 1
        setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Makes a descriptor non-blocking and close-on-exec. A child process that another thread starts just before keeps it
    /// open, so on Linux this happens when the descriptor is made.
    private static func keepPrivate(_ descriptor: Int32) {
        #if canImport(Darwin)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #endif
    }
}
