internal import DeferredNetworking
import Foundation

/// Reads a request's body piece by piece, whichever way it is framed.
///
/// A client that waits for `100 Continue` is sent it when the first byte is needed.
final class BodyReader {
    private enum State {
        /// The number of bytes left in a body with a `Content-Length`.
        case counted(Int)
        case atChunkSize
        case inChunk(Int)
        case ended
    }

    private let connection: Connection
    private var state: State

    /// True if the client may be waiting for a `100 Continue` that has not been sent.
    private(set) var owesContinue: Bool

    /// The fields behind a body that has ended.
    private(set) var trailers: [HTTPHeaders.Field] = []

    init(head: RequestHead, connection: Connection) {
        self.connection = connection
        owesContinue = head.expectsContinue
        switch head.framing {
        case .length(0): state = .ended
        case .length(let count): state = .counted(count)
        case .chunked: state = .atChunkSize
        }
    }

    /// True if the whole body has been read, so that the next request can follow.
    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Returns the next piece, of 1 to `limit` bytes; empty at the end.
    func next(atMost limit: Int) throws -> Data {
        if owesContinue {
            owesContinue = false
            try connection.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        while true {
            switch state {
            case .ended:
                return Data()
            case .counted(let left):
                let piece = try connection.readSome(atMost: min(left, limit))
                state = piece.count == left ? .ended : .counted(left - piece.count)
                return piece
            case .atChunkSize:
                let size = try chunkSize()
                state = size == 0 ? .ended : .inChunk(size)
                while size == 0, case let line = try line(), !line.isEmpty {
                    try trailers.append(RequestHead.field(line))
                }
            case .inChunk(let left):
                let piece = try connection.readSome(atMost: min(left, limit))
                state = piece.count == left ? .atChunkSize : .inChunk(left - piece.count)
                if piece.count == left, try !line().isEmpty {
                    throw RequestError.malformed("A chunk is longer than its declared size.")
                }
                return piece
            }
        }
    }

    private func chunkSize() throws -> Int {
        let digits = try line().prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: 16) else {
            throw RequestError.malformed("A chunk's size is not a hexadecimal number.")
        }
        return size
    }

    private func line() throws -> String {
        let error = RequestError.malformed("A line between the chunks, or after them, is larger than 8 KiB.")
        guard let line = try connection.readLine(limit: 8 * 1_024, or: error) else { throw Disconnection.peerClosed }
        return line.text
    }
}
