import Foundation

/// A file for bytes that wait to be read. It has no name, and goes with this object.
///
/// It may be read at one place while it is written at another.
final class SpillFile: Sendable {
    private let descriptor: Int32

    init() throws(CocoaError) {
        let folder = NSTemporaryDirectory()
        switch POSIXFile.openUnlinked(in: folder) {
        case .success(let descriptor): self.descriptor = descriptor
        case .failure(let error): throw FileFailure.writing(folder, error.code)
        }
    }

    deinit {
        _ = close(descriptor)
    }

    func write(_ bytes: Data, at offset: Int64) throws(CocoaError) {
        if let code = POSIXFile.writeAll(bytes, at: offset, to: descriptor) {
            throw FileFailure.writing(NSTemporaryDirectory(), code)
        }
    }

    /// At least one byte of a range in which all were written.
    func read(_ range: Range<Int64>) throws(CocoaError) -> Data {
        guard let bytes = POSIXFile.read(range.count, at: range.lowerBound, from: descriptor) else {
            throw FileFailure.writing(NSTemporaryDirectory())
        }
        return bytes
    }
}
