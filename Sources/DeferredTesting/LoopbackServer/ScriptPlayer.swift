internal import DeferredNetworking
import Foundation

/// Plays scripts on a connection.
struct ScriptPlayer {
    let connection: Connection
    /// The part of the request's body that has not been read.
    let body: BodyReader?
    var isHead = false
    /// True once the peer was sent a part of an answer.
    private(set) var hasBegun = false

    /// Plays a script and returns how the connection is to continue or end.
    mutating func play(_ script: LoopbackServer.Script) throws -> Ending {
        var filter = BodyFilter(isActive: isHead && script.isResponse)
        for step in script.steps {
            switch step {
            case .send(let payload): try send(payload, size: 64 * 1_024, every: nil, &filter)
            case .drip(let payload, let size, let interval): try send(payload, size: size, every: interval, &filter)
            case .pause(let duration): try connection.pause(until: .now + duration)
            case .receive(let count): try receive(count)
            case .echo: try echo(filter)
            case .stall: try connection.pause(until: nil)
            case .close: return .close
            case .reset: return .reset
            }
        }
        return .keepOpen
    }

    private mutating func send(
        _ payload: LoopbackServer.Payload,
        size: Int,
        every interval: Duration?,
        _ filter: inout BodyFilter
    ) throws {
        var reader = try PayloadReader(payload)
        var isFirst = true
        while !filter.isInBody, let piece = try reader.next(atMost: max(1, size)) {
            if let interval, !isFirst { try connection.pause(until: .now + interval) }
            isFirst = false
            hasBegun = true
            try connection.send(filter.headPart(of: piece))
        }
    }

    private mutating func echo(_ filter: BodyFilter) throws {
        guard let body, !filter.isInBody else { return }
        while case let piece = try body.next(atMost: 64 * 1_024), !piece.isEmpty {
            hasBegun = true
            try connection.send(Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8))
        }
        try connection.send(Data("0\r\n\(HTTPHeaders(body.trailers).lines)\r\n".utf8))
    }

    private func receive(_ count: Int) throws {
        var left = count
        while left > 0, let piece = try body?.next(atMost: left), !piece.isEmpty { left -= piece.count }
    }
}

/// Cuts the body off a response to `HEAD`, whose head can follow those of interim responses.
private struct BodyFilter {
    let isActive: Bool
    private(set) var isInBody = false
    var head: [UInt8] = []

    mutating func headPart(of piece: Data) -> Data {
        guard isActive else { return piece }
        for (offset, byte) in piece.enumerated() {
            head.append(byte)
            guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { continue }
            if head.starts(with: "HTTP/1.1 1".utf8) {
                head = []
            } else {
                isInBody = true
                return piece.prefix(offset + 1)
            }
        }
        return piece
    }
}
