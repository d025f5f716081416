internal import DeferredNetworking
import Foundation

/// Produces a payload piece by piece, so that it is never in memory as a whole.
struct PayloadReader {
    private let source: LoopbackServer.Payload.Source
    private let file: FileHandle?
    private var position: Int
    private let end: Int

    init(_ payload: LoopbackServer.Payload) throws(SystemError) {
        source = payload.source
        switch payload.source {
        case .bytes(let data):
            (file, position, end) = (nil, data.startIndex, data.endIndex)
        case .pattern(let range):
            (file, position, end) = (nil, range.lowerBound, range.upperBound)
        case .file(let url, let range):
            guard let handle = POSIXFile.handle(url.path, O_RDONLY) else { throw .current }
            (file, position, end) = (handle, range.lowerBound, range.upperBound)
        }
    }

    /// Returns the next piece, of 1 to `limit` bytes; `nil` at the end. Throws if a file is shorter than its range.
    mutating func next(atMost limit: Int) throws -> Data? {
        guard position < end else { return nil }
        let range = position..<min(end, position + min(limit, end - position))
        let piece: Data
        switch source {
        case .bytes(let data):
            piece = data[range]
        case .pattern:
            piece = LoopbackServer.Payload.patternBytes(range)
        case .file:
            let count = min(range.count, 64 * 1_024)
            guard let file, let bytes = POSIXFile.read(count, at: Int64(position), from: file.fileDescriptor) else {
                throw Disconnection.peerClosed
            }
            piece = bytes
        }
        position += piece.count
        return piece
    }
}
