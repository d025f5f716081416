import Foundation

/// A flag that can be polled together with sockets: one byte in a connection that is never read.
///
/// Once raised, every present and future `poll` on `descriptor` returns at once, whichever thread it runs on.
final class StopSignal: Sendable {
    let descriptor: Int32
    private let writeEnd: Int32

    init() throws(SystemError) {
        (descriptor, writeEnd) = try Socket.makePair()
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    /// Ends all waits. Further calls do no harm: a connection that is full counts as raised, too.
    func raise() {
        var byte: UInt8 = 1
        while write(writeEnd, &byte, 1) < 0, SystemError.current.meansInterrupted {}
    }
}

/// The error of a wait that a raised signal has ended.
struct Stopped: Error {}
