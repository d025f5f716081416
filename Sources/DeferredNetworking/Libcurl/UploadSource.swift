#if os(Linux)
import Foundation

/// A source of a request's body while it is sent.
protocol UploadSource: AnyObject {
    /// The length of the body, or nil if it isn't known in advance.
    var length: Int64? { get }

    /// The fields behind the body, once all of it was read.
    var trailers: HTTPHeaders { get }

    /// Fills the front of `buffer`, or returns the reason why it can't. Never blocks.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead

    /// Goes back to the beginning and returns true, or returns false if that isn't possible.
    func rewind() -> Bool
}

extension UploadSource {
    var trailers: HTTPHeaders { [:] }
}

enum UploadRead {
    /// The number of bytes read; zero at the end.
    case bytes(Int)

    /// Nothing is available yet. The source reports when there is more.
    case notYet

    case failed(any Error)
}

/// A body in memory.
final class DataUploadSource: UploadSource {
    private let data: Data
    private var offset: Int

    var length: Int64? { Int64(data.count) }

    init(_ data: Data) {
        self.data = data
        offset = data.startIndex
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
        let count = min(buffer.count, data.endIndex - offset)
        data.copyBytes(to: buffer, from: offset..<offset + count)
        offset += count
        return .bytes(count)
    }

    func rewind() -> Bool {
        offset = data.startIndex
        return true
    }
}
#endif
