internal import DeferredNetworking
import Foundation

/// Produces a payload piece by piece, so that it is never in memory as a whole.
struct PayloadReader {
    private var rest: LoopbackServer.Payload
    private let file: FileHandle?

    init(_ payload: LoopbackServer.Payload) throws(SystemError) {
        rest = payload
        if case .file(let url, _) = payload.source {
            guard let handle = POSIXFile.handle(url.path, O_RDONLY) else { throw .current }
            file = handle
        } else {
            file = nil
        }
    }

    /// Returns the next piece, of 1 to `limit` bytes; `nil` at the end. Throws if a file is shorter than its range.
    mutating func next(atMost limit: Int) throws -> Data? {
        guard rest.count > 0 else { return nil }
        let piece: Data
        switch rest.prefix(limit).source {
        case .bytes(let data):
            piece = data
        case .pattern(let range):
            piece = LoopbackServer.Payload.patternBytes(range)
        case .file(_, let range):
            let (count, offset) = (min(range.count, 64 * 1_024), Int64(range.lowerBound))
            guard let file, let bytes = POSIXFile.read(count, at: offset, from: file.fileDescriptor) else {
                throw Disconnection.peerClosed
            }
            piece = bytes
        }
        rest = rest.part(piece.count..<rest.count)
        return piece
    }
}
