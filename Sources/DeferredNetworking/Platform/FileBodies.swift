import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Bodies that are files.
///
/// swift-corelibs-foundation reads a file in advance, and resumes the transfer when bytes have arrived; if the transfer
/// has ended by then, that traps. No issue is known upstream. Test: `URLSessionTests`, "an upload of a file that ends
/// while the file is read does not trap".
///
/// A stream is read only when the transfer asks for bytes, and twice as fast. Its length can't be given, but header
/// fields are passed on to libcurl: with a `Content-Length` and a blank `Transfer-Encoding`, libcurl sends the bytes as
/// they are, and a blank `Content-Type` prevents that of a form. Test: `URLSessionTests`, "a file is sent with its
/// length, and nothing is added".
enum FileBodies {
    static var areStreams: Bool { SessionPlatform.isCorelibs }

    /// Makes the bytes of a file the body of a request, where files are sent as streams.
    static func setStream(of file: URL, in request: inout URLRequest) {
        guard areStreams else { return }
        let stream = FileStream(file)
        request.httpBodyStream = stream
        StreamedLengths.announce(stream.length, in: &request)
    }

    /// Returns the length of the body that a task sends as a stream, if it is known.
    static func length(of task: URLSessionTask) -> Int64? {
        let stream = task.originalRequest?.httpBodyStream
        return (stream as? FileStream)?.length ?? (stream as? SentStream)?.length
    }
}

/// A stream of the bytes that a file has when the stream is created.
final class FileStream: InputStream {
    /// The number of bytes, or zero if the file can't be read.
    let length: Int64

    private let path: String
    private var remaining: Int64
    private var descriptor: Int32?
    private var status = Status.notOpen

    init(_ file: URL) {
        path = file.path
        let found = POSIXFile.lengthOfReadableRegularFile(at: path)
        length = found ?? 0
        remaining = length
        super.init(data: Data())
        if found == nil { fail() }
    }

    deinit { closeFile() }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? {
        status == .error ? CocoaError(.fileReadUnknown, userInfo: [NSFilePathErrorKey: path]) : nil
    }
    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        if status == .notOpen { status = remaining > 0 ? .open : .atEnd }
    }

    override func close() {
        closeFile()
        status = .closed
    }

    /// Reads bytes of the file. Fails if the file has fewer than it had.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength count: Int) -> Int {
        guard status == .open, count > 0 else { return status == .error ? -1 : 0 }
        // Opened here, so that uploads that wait for a connection need no descriptor.
        descriptor = descriptor ?? POSIXFile.openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard let descriptor else { return fail() }
        var result = 0
        repeat {
            result = Foundation.read(descriptor, buffer, Int(min(Int64(count), remaining)))
        } while result < 0 && errno == EINTR
        guard result > 0 else { return fail() }
        remaining -= Int64(result)
        if remaining == 0 {
            closeFile()
            status = .atEnd
        }
        return result
    }

    @discardableResult
    private func fail() -> Int {
        closeFile()
        status = .error
        return -1
    }

    private func closeFile() {
        if let descriptor { _ = Foundation.close(descriptor) }
        descriptor = nil
    }
}
