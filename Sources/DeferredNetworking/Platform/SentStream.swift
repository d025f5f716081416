import Foundation

/// A stream that is sent as a body: once, and whole.
///
/// swift-corelibs-foundation takes a stream that can't be opened for an empty one. When libcurl sends a request again
/// because a kept-alive connection was lost, it takes the stream, of which the first attempt has read some or all, for
/// the whole body. Both times, the server gets a complete request with a wrong body. An error of `read` instead makes
/// libcurl give up the request before its end. No issue is known upstream. Tests: `URLClientTests`, "a stream that
/// can't be read isn't sent as an empty body", and "a stream on a lost connection isn't sent as an empty body".
final class SentStream: InputStream {
    /// The announced number of bytes; `nil` if it is unknown.
    let length: Int64?

    private let stream: InputStream
    private var isRead = false
    private var count: Int64 = 0

    /// True once the stream would have to be sent again.
    var isExhausted = false

    init(_ stream: InputStream, length: Int64? = nil) {
        self.stream = stream
        self.length = length
        super.init(data: Data())
    }

    override var streamStatus: Status { stream.streamStatus }
    override var streamError: (any Error)? { stream.streamError }

    /// Always true, so that a body has ended only if `read` says so.
    override var hasBytesAvailable: Bool { true }

    override func open() { stream.open() }
    override func close() { stream.close() }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        if isRead { isExhausted = true }
        guard !isExhausted, stream.streamStatus != .error else { return -1 }
        // More bytes than announced would be taken for another request.
        let result = stream.read(buffer, maxLength: length.map { Int(min(Int64(count), $0 - self.count)) } ?? count)
        self.count += Int64(max(0, result))
        isRead = result == 0
        return isRead && length.map { self.count < $0 } == true ? -1 : result
    }
}
