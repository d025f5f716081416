package import Foundation

extension StreamedBody {
    /// Creates a body from a part of a file.
    package convenience init(of file: URL, range: Range<Int64>) {
        self.init(length: Int64(range.count), isSpooled: false, alreadySent: nil) {
            HTTPBodyStream(FileRange(file: file, range: range))
        }
    }
}

/// The bytes of a part of a file, read as they are asked for. The file is open only meanwhile.
private struct FileRange: AsyncSequence, Sendable {
    typealias Element = Data

    private static let pieceSize = 256 << 10

    let file: URL
    let range: Range<Int64>

    func makeAsyncIterator() -> Iterator { Iterator(source: self, position: range.lowerBound) }

    struct Iterator: AsyncIteratorProtocol {
        let source: FileRange
        var position: Int64
        private var handle: FileHandle?

        init(source: FileRange, position: Int64) {
            (self.source, self.position) = (source, position)
        }

        mutating func next() async throws -> Data? {
            guard position < source.range.upperBound else { return nil }
            let handle = try handle ?? source.open()
            self.handle = handle
            let count = Int(Swift.min(Int64(FileRange.pieceSize), source.range.upperBound - position))
            let (piece, path) = (try handle.read(upToCount: count), source.file.path)
            guard let piece, !piece.isEmpty else {
                throw URLClientError.invalidRequest(
                    reason: "the file \(DisplayText.quoted(path)) ends at \(position), before the end of the range "
                        + "\(source.range.lowerBound)..<\(source.range.upperBound)"
                )
            }
            position += Int64(piece.count)
            return piece
        }
    }

    private func open() throws -> FileHandle {
        guard file.isFileURL, POSIXFile.lengthOfReadableRegularFile(at: file.path) != nil else {
            throw URLClientError.invalidRequest(
                reason: "the body \(DisplayText.quoted(file.path)) is not a regular file that can be read"
            )
        }
        let handle = try FileHandle(forReadingFrom: file)
        try handle.seek(toOffset: UInt64(clamping: range.lowerBound))
        return handle
    }
}
