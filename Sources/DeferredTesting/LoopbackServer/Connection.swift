import Foundation

/// The reason for which a connection cannot continue, besides a failed system call and a stop of the server.
enum Disconnection: Error {
    /// The peer has closed its side.
    case peerClosed
    /// The peer has violated TLS or refused the server's certificate, or has no certificate that is accepted.
    case insecure
}

/// One accepted connection: buffered input, complete output, and waits that end when the server stops.
///
/// Used by the one thread that serves it.
final class Connection {
    /// The number of bytes to read ahead while a script pauses or stalls. TCP flow control holds back the rest.
    private static let readAheadLimit = 64 * 1_024

    let socket: Socket
    let number: Int
    private let stopSignal: StopSignal
    private let tls: TLSSession?
    private var buffer: [UInt8] = []
    private var position = 0

    init(socket: Socket, number: Int, stopSignal: StopSignal, tls: TLSSession?) {
        self.socket = socket
        self.number = number
        self.stopSignal = stopSignal
        self.tls = tls
    }

    /// The received bytes that have not been consumed.
    var buffered: ArraySlice<UInt8> { buffer[position...] }

    /// Removes the first `count` bytes of `buffered`.
    func consume(_ count: Int) {
        position += count
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            position = 0
        }
    }

    /// Waits for more input and buffers it; returns `false` at the end of the stream.
    func fill() throws -> Bool {
        try receive(until: nil) ?? false
    }

    /// Sends all bytes.
    func send(_ bytes: Data) throws {
        try transmit(tls?.seal(bytes) ?? bytes)
    }

    private func transmit(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                _ = try socket.wait(for: .sending, until: nil, orUntil: stopSignal)
                rest = try rest.dropFirst(socket.send(UnsafeRawBufferPointer(rebasing: rest)))
            }
        }
    }

    /// Waits until the deadline, or for ever if it is `nil`; throws when the peer closes its side meanwhile.
    func pause(until deadline: ContinuousClock.Instant?) throws {
        while buffered.count < Self.readAheadLimit {
            guard let open = try receive(until: deadline) else { return }
            if !open { throw Disconnection.peerClosed }
        }
        if try socket.wait(for: .breaking, until: deadline, orUntil: stopSignal) { throw Disconnection.peerClosed }
    }

    /// Waits until the peer's system has received everything, or until the deadline. A reset would discard the rest.
    func waitForDelivery(until deadline: ContinuousClock.Instant) throws {
        while socket.unacknowledgedByteCount > 0, .now < deadline {
            let isBroken = try socket.wait(for: .breaking, until: .now + .milliseconds(1), orUntil: stopSignal)
            if isBroken { throw Disconnection.peerClosed }
        }
    }

    /// Ends the sending side, then discards input until the peer closes, or until the deadline.
    ///
    /// Closing with unread input would send RST, which can overtake the response in the peer's system.
    func linger(until deadline: ContinuousClock.Instant) throws {
        // Only as much as the system takes at once: a peer that doesn't read is not waited for.
        if let farewell = tls?.close() { _ = try? farewell.withUnsafeBytes(socket.send) }
        socket.finishSending()
        repeat {
            consume(buffered.count)
            guard try receive(until: deadline) == true else { return }
        } while .now < deadline
    }

    /// Buffers the next input; returns `false` at the end of the stream, `nil` when the deadline passes first.
    private func receive(until deadline: ContinuousClock.Instant?) throws -> Bool? {
        // Told together with the last bytes, while the socket may stay open.
        if tls?.isClosedByPeer == true { return false }
        while try socket.wait(for: .receiving, until: deadline, orUntil: stopSignal) {
            guard let bytes = try socket.receive(atMost: 64 * 1_024) else { continue }
            guard let tls, !bytes.isEmpty else {
                buffer += bytes
                return !bytes.isEmpty
            }
            let count = buffered.count
            try decrypt(bytes, tls)
            if buffered.count > count || tls.isClosedByPeer { return buffered.count > count }
        }
        return nil
    }

    /// Buffers the plain bytes, and sends the replies of the protocol itself.
    private func decrypt(_ bytes: [UInt8], _ tls: TLSSession) throws {
        let plain = Result { try tls.open(bytes) }
        // Also the alert that tells the peer why it is refused.
        let answer = tls.takeOutput()
        if !answer.isEmpty { try transmit(answer) }
        buffer += try plain.get()
    }
}
