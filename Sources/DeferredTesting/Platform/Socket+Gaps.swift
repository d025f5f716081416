#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

// Differences between Linux and Darwin. There are no upstream issues: the calls differ by design.

extension Socket {
    /// Creates a socket of this family that does not block and is not inherited by child processes.
    static func make(_ family: Int32) throws(SystemError) -> Socket {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw .current }
        Socket.keepPrivate(descriptor)
        return Socket(descriptor: descriptor)
    }

    /// Calls `accept`; the new descriptor does not block and is not inherited either.
    func acceptDescriptor() -> Int {
        #if canImport(Darwin)
        let accepted = Darwin.accept(descriptor, nil, nil)
        #elseif canImport(Musl)
        let accepted = Musl.accept(descriptor, nil, nil)
        #elseif canImport(Android)
        let accepted = Android.accept(descriptor, nil, nil)
        #else
        let accepted = Glibc.accept(descriptor, nil, nil)
        #endif
        if accepted >= 0 { Socket.keepPrivate(accepted) }
        return Int(accepted)
    }

    /// Calls `send` without SIGPIPE.
    func systemSend(_ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Darwin)
        Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
        #elseif canImport(Musl)
        Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #elseif canImport(Android)
        Android.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #else
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    /// Turns SIGPIPE off on Darwin; Linux has only the flag that `systemSend` passes.
    func suppressSIGPIPE() {
        #if canImport(Darwin)
        enable(SO_NOSIGPIPE, at: SOL_SOCKET)
        #endif
    }

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

    /// Makes a descriptor non-blocking and close-on-exec.
    ///
    /// Linux could do this in the same call (`accept4`), but Swift's Glibc module doesn't import that. A child process
    /// that another thread starts between the two calls keeps the descriptor open.
    private static func keepPrivate(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }
}
