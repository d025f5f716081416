package import Foundation

extension StreamedBody {
    /// Creates a body from a part of a file.
    package convenience init(of file: URL, range: Range<Int64>) {
        // Of a range that is refused, any length will do.
        let length = range.upperBound.subtractingReportingOverflow(range.lowerBound).partialValue
        let bytes = FileRange(file: file, range: range)
        self.init(length: max(0, length), isSpooled: false, alreadySent: nil, flaw: { bytes.flaw }) {
            HTTPBodyStream(bytes)
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
            guard let piece = try handle.read(upToCount: count), !piece.isEmpty else {
                throw source.outside(of: position)
            }
            position += Int64(piece.count)
            return piece
        }
    }

    /// The reason why the file has no such part.
    var flaw: URLClientError? {
        guard file.isFileURL, let length = POSIXFile.lengthOfReadableRegularFile(at: file.path) else {
            return .invalidRequest(
                reason: "the body \(DisplayText.quoted(file.path)) is not a regular file that can be read"
            )
        }
        guard range.lowerBound >= 0, range.upperBound <= length else { return outside(of: length) }
        return nil
    }

    private func outside(of length: Int64) -> URLClientError {
        .invalidRequest(
            reason: "the file \(DisplayText.quoted(file.path)) has \(length) bytes, and no part "
                + "\(range.lowerBound)..<\(range.upperBound)"
        )
    }

    private func open() throws -> FileHandle {
        if let flaw { throw flaw }
        let handle = try FileHandle(forReadingFrom: file)
        try handle.seek(toOffset: UInt64(clamping: range.lowerBound))
        return handle
    }
}
