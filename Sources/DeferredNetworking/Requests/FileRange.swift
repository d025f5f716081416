package import Foundation

extension StreamedBody {
    /// Creates a body from a part of a file, which is open only while it is read.
    package convenience init(of file: URL, range: Range<Int64>) {
        // Of a range that is refused, any length will do.
        let length = range.upperBound.subtractingReportingOverflow(range.lowerBound).partialValue
        let part = FileRange(file: file, range: range)
        self.init(
            length: max(0, length),
            isSpooled: false,
            alreadySent: nil,
            checkSource: { () throws(URLClientError) in try part.check() }
        ) { HTTPBodyStream(QueuedBytes { try part.open() }) }
    }
}

/// A part of a file.
private struct FileRange: Sendable {
    let file: URL
    let range: Range<Int64>

    /// Checks that the file has such a part.
    func check() throws(URLClientError) {
        let length = try CheckedRequest.fileLength(of: file)
        guard range.lowerBound >= 0, range.upperBound <= length else {
            throw .invalidRequest(
                reason: "the file \(DisplayText.quoted(file.path)) has \(length) bytes, and no part "
                    + "\(range.lowerBound)..<\(range.upperBound)"
            )
        }
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
