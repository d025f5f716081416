import Foundation

/// Bytes that wait on disk: appended at the end, taken from the front. The file has no name and goes with this object.
struct SpillFile: ~Copyable {
    /// How much is read at a time.
    private static let pieceSize: Int64 = 256 << 10

    private let descriptor: Int32
    private var start: Int64 = 0
    private var end: Int64 = 0

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

    var isEmpty: Bool { start == end }

    mutating func append(_ bytes: Data) throws(CocoaError) {
        if let code = POSIXFile.writeAll(bytes, to: descriptor) {
            throw FileFailure.writing(NSTemporaryDirectory(), code)
        }
        end += Int64(bytes.count)
    }

    /// The next bytes, of which there are some.
    mutating func takeFirst() throws(CocoaError) -> Data {
        let count = Int(min(end - start, Self.pieceSize))
        guard let bytes = POSIXFile.read(count, at: start, from: descriptor) else {
            throw FileFailure.writing(NSTemporaryDirectory())
        }
        start += Int64(bytes.count)
        if start == end {
            // What was read takes no space on the disk any longer, and writing begins at the front again.
            guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
                throw FileFailure.writing(NSTemporaryDirectory())
            }
            (start, end) = (0, 0)
        }
        return bytes
    }
}
