import Foundation

extension Socket {
    /// The event to wait for. A broken connection counts as ready for each, so that the next call reports the error.
    enum Interest {
        case receiving
        case sending
        /// Neither receiving nor sending: only a broken connection ends the wait.
        case breaking
    }

    /// Waits until the socket is ready; returns `false` when the deadline (`nil`: none) passes first. Throws once
    /// `stop` is raised, which takes precedence.
    func wait(
        for interest: Interest,
        until deadline: ContinuousClock.Instant?,
        orUntil stop: StopSignal
    ) throws(Stopped) -> Bool {
        let events =
            switch interest {
            case .receiving: Int16(POLLIN)
            case .sending: Int16(POLLOUT)
            case .breaking: Int16(0)
            }
        while true {
            var entries = [
                pollfd(fd: descriptor, events: events, revents: 0),
                pollfd(fd: stop.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&entries, 2, Socket.milliseconds(until: deadline))
            if count < 0, SystemError.current.meansInterrupted { continue }
            if entries[1].revents != 0 { throw Stopped() }
            // A poll that fails for another reason is reported by the call that follows.
            if count < 0 || entries[0].revents != 0 { return true }
            if let deadline, deadline <= .now { return false }
        }
    }

    /// The time left, rounded up so that no wait ends early; -1 without a deadline.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return 0 }
        guard left < .seconds(1_000_000) else { return 1_000_000_000 }
        let (seconds, attoseconds) = left.components
        return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
