import Foundation

/// A failed system call: its `errno` and the system's text for it.
struct SystemError: Error, CustomStringConvertible {
    let code: Int32

    /// The error of the system call that has just failed on this thread.
    static var current: SystemError { SystemError(code: errno) }

    var description: String { "\(String(cString: strerror(code))) (errno \(code))" }

    /// True if the same call would succeed once the descriptor is ready.
    var meansWouldBlock: Bool { code == EAGAIN || code == EWOULDBLOCK }

    /// True if a signal interrupted the call, so that it has to be repeated.
    var meansInterrupted: Bool { code == EINTR }

    /// True if the process or the system has no descriptors or memory left at the moment.
    var meansExhausted: Bool { code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM }
}
