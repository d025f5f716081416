/// Plays scripts on a connection.
struct ScriptPlayer {
    let connection: Connection
    /// The request's body as far as it has not been read.
    let body: BodyReader?

    /// Returns what the script wants to become of the connection.
    func play(_ script: LoopbackServer.Script) throws -> Ending {
        for step in script.steps {
            switch step {
            case .send(let payload): try send(payload)
            case .drip(let payload, let size, let interval): try drip(payload, size: size, every: interval)
            case .pause(let duration): try connection.pause(until: .now + duration)
            case .receive(let count): try receive(count)
            case .stall: try connection.pause(until: nil)
            case .close: return .close
            case .reset: return .reset
            }
        }
        return .keepOpen
    }

    private func send(_ payload: LoopbackServer.Payload) throws {
        var reader = try PayloadReader(payload)
        while let piece = try reader.next(atMost: 64 * 1_024) { try connection.send(piece) }
    }

    private func drip(_ payload: LoopbackServer.Payload, size: Int, every interval: Duration) throws {
        var reader = try PayloadReader(payload)
        var isFirst = true
        while let piece = try reader.next(atMost: max(1, size)) {
            if !isFirst { try connection.pause(until: .now + interval) }
            isFirst = false
            try connection.send(piece)
        }
    }

    private func receive(_ count: Int) throws {
        var left = count
        while left > 0, let piece = try body?.next(atMost: left), !piece.isEmpty { left -= piece.count }
    }
}
