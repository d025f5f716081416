#if os(Linux)
import CLibcurl
import Foundation

/// Connects to the addresses of a name, until one of them answers: one after the other, each a moment after the one before
/// it, or as soon as that one has failed (RFC 8305). Confined to the engine's thread.
///
/// libcurl tries the next address of a family only after half of its time limit.
final class AddressRace {
    enum Outcome {
        case won(socket: Int32, address: String)

        /// All have failed, the last one for this reason.
        case lost(Int32)
    }

    private struct Runner {
        let socket: Int32
        let address: String
        let start: ContinuousClock.Instant
    }

    /// The number that its sockets have in the thread's poll set.
    static let owner = UInt32.max

    /// The time that an address has before the next one is tried as well: libcurl's between families.
    static let headStart = Duration.milliseconds(200)

    private let port: Int
    private let poll: poll_set
    private var waiting: ArraySlice<String>
    private var runners: [Runner] = []
    private var lastError = EADDRNOTAVAIL

    /// The time at which the next address is tried.
    private(set) var timer: ContinuousClock.Instant?

    init(to addresses: [String], port: Int, poll: poll_set) {
        waiting = addresses[...]
        self.port = port
        self.poll = poll
    }

    /// Tries the next address.
    func proceed() -> Outcome? {
        timer = nil
        while let address = waiting.popFirst() {
            let socket = connection_begin(address, Int32(port))
            guard socket >= 0 else {
                lastError = errno
                continue
            }
            let now = ContinuousClock.now
            runners.append(Runner(socket: socket, address: address, start: now))
            poll_set_watch(poll, socket, Self.owner, Int32(CURL_POLL_OUT))
            timer = waiting.isEmpty ? nil : now + Self.headStart
            return nil
        }
        return runners.isEmpty ? .lost(lastError) : nil
    }

    func owns(_ socket: Int32) -> Bool { runners.contains { $0.socket == socket } }

    /// Handles the end of an attempt to connect.
    func ended(_ socket: Int32) -> Outcome? {
        guard let index = runners.firstIndex(where: { $0.socket == socket }) else { return nil }
        let error = connection_error(socket)
        // The event was that of an earlier socket with this number.
        if error == EINPROGRESS { return nil }
        let runner = runners.remove(at: index)
        guard error != 0 else {
            poll_set_remove(poll, socket)
            return .won(socket: socket, address: runner.address)
        }
        close(runner)
        lastError = error
        return proceed()
    }

    /// Closes the sockets that are still connecting.
    ///
    /// - Parameter isLate: True if a deadline is the reason.
    /// - Returns: the addresses that have had time to answer.
    func stop(isLate: Bool) -> [String] {
        let silent = runners.filter { isLate || $0.start + Self.headStart <= .now }.map(\.address)
        runners.forEach(close)
        runners = []
        return silent
    }

    private func close(_ runner: Runner) {
        _ = poll_set_close(UnsafeMutableRawPointer(poll), runner.socket)
    }
}
#endif
