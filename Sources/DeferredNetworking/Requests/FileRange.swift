package import Foundation

extension StreamedBody {
    /// Creates a body from a part of a file, which is open only while it is read.
    package convenience init(of file: URL, range: Range<Int64>) {
        // Of a range that is refused, any length will do.
        let length = range.upperBound.subtractingReportingOverflow(range.lowerBound).partialValue
        let part = FileRange(file: file, range: range)
        self.init(length: max(0, length), isSpooled: false, alreadySent: nil, flaw: { part.flaw }) {
            HTTPBodyStream(QueuedBytes { try part.open() })
        }
    }
}

/// A part of a file.
private struct FileRange: Sendable {
    let file: URL
    let range: Range<Int64>

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

    func open() throws -> QueuedBytes.Read {
        guard let handle = POSIXFile.handle(file.path, O_RDONLY | O_NONBLOCK) else {
            throw FileFailure.reading(file.path)
        }
        try handle.seek(toOffset: UInt64(range.lowerBound))
        var position = range.lowerBound
        return {
            guard position < range.upperBound else { return nil }
            let count = Int(min(Int64(QueuedBytes.pieceSize), range.upperBound - position))
            guard let piece = try handle.read(upToCount: count), !piece.isEmpty else {
                throw FileFailure.shortened(file.path, to: position)
            }
            position += Int64(piece.count)
            return piece
        }
    }
}
