#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

/// A flag that can be polled together with sockets: one byte in a pipe that is never read.
///
/// Once raised, every present and future `poll` on `descriptor` returns at once, whichever thread it runs on.
final class StopSignal: Sendable {
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .current }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Ends all waits. Further calls do no harm: a pipe that is full counts as raised, too.
    func raise() {
        var byte: UInt8 = 1
        while write(writeEnd, &byte, 1) < 0, SystemError.current.meansInterrupted {}
    }
}
