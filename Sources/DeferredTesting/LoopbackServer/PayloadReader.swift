import Foundation

/// Produces a payload piece by piece, so that it is never in memory as a whole.
struct PayloadReader {
    private let source: LoopbackServer.Payload.Source
    private let file: ReadOnlyFile?
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
            (file, position, end) = (try ReadOnlyFile(path: url.path), range.lowerBound, range.upperBound)
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
        case .file(let url, _):
            piece = Data(try file?.read(atMost: min(range.count, 64 * 1_024), from: position) ?? [])
            guard !piece.isEmpty else { throw FileTooShort(url: url, length: position) }
        }
        position += piece.count
        return piece
    }

    private struct FileTooShort: Error {
        let url: URL
        let length: Int
    }
}
