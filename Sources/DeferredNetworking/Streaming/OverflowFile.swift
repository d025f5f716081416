import Foundation

/// An unnamed file for bytes that wait to be read. It is deleted with this object.
///
/// One range may be read while another is written.
final class OverflowFile: Sendable {
    private let descriptor: Int32

    init() throws(CocoaError) {
        let folder = NSTemporaryDirectory()
        guard let descriptor = POSIXFile.openUnlinked(in: folder) else { throw FileFailure.writing(folder) }
        self.descriptor = descriptor
    }

    deinit {
        _ = close(descriptor)
    }

    func write(_ bytes: Data, at offset: Int64) throws(CocoaError) {
        if let code = POSIXFile.writeAll(bytes, at: offset, to: descriptor) {
            throw FileFailure.writing(NSTemporaryDirectory(), code)
        }
    }

    /// Returns at least one byte of a range, all of which must have been written.
    func read(_ range: Range<Int64>) throws(CocoaError) -> Data {
        guard let bytes = POSIXFile.read(range.count, at: range.lowerBound, from: descriptor) else {
            throw FileFailure.reading(NSTemporaryDirectory())
        }
        return bytes
    }
}
