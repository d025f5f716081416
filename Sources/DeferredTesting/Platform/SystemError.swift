#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A failed system call: its `errno` and the text the system has for it.
struct SystemError: Error, CustomStringConvertible {
    let code: Int32

    /// The failure that the calling thread has just met.
    static var current: SystemError { SystemError(code: errno) }

    /// The failure for what the system lacks.
    static let unsupported = SystemError(code: ENOTSUP)

    var description: String { "\(String(cString: strerror(code))) (errno \(code))" }

    /// Whether the same call would succeed once the descriptor is ready.
    var meansWouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

    /// Whether the call was interrupted by a signal, so that it is to be made again.
    var meansInterrupted: Bool { code == EINTR }

    /// Whether the process or the system has no descriptors or memory left at the moment.
    var meansExhausted: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }
}
