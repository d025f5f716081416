import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Streams that can't provide a body.
///
/// For a stream that was read or closed before, swift-corelibs-foundation sends an empty body, and the task succeeds. No
/// issue is known upstream. Test: `URLClientTests`, "a stream that can't be read isn't sent as an empty body".
/// ``SentStream`` has the other cases.
enum BodyStreams {
    /// Returns the error of a request with a stream that can't be sent any more, or at all.
    static func error(before stream: InputStream, of url: URL?) -> (any Error)? {
        switch stream.streamStatus {
        case .error: failure(of: stream, url)
        case .atEnd, .closed: spent
        default: nil
        }
    }

    /// Opens a stream, and returns a closure that returns its next bytes.
    ///
    /// - Parameter url: The URL of the request, for errors.
    static func open(_ stream: InputStream, of url: URL) throws -> QueuedBytes.Read {
        if let error = error(before: stream, of: url) { throw error }
        stream.open()
        guard stream.streamStatus != .error else { throw failure(of: stream, url) }
        let opened = OpenStream(stream: stream)
        return {
            var bytes = Data(count: QueuedBytes.pieceSize)
            let count = bytes.withUnsafeMutableBytes { buffer in
                let address = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
                return address.map { opened.stream.read($0, maxLength: buffer.count) } ?? 0
            }
            guard count >= 0 else { throw failure(of: opened.stream, url) }
            return count == 0 ? nil : bytes.prefix(count)
        }
    }

    /// Closes a stream when nobody can read it any more.
    private final class OpenStream {
        let stream: InputStream

        init(stream: InputStream) { self.stream = stream }

        deinit { stream.close() }
    }

    /// The error of a request whose stream was used before.
    static let spent = URLClientError.invalidRequest(
        reason: "the body stream was already read or closed; create a new stream for each request"
    )

    /// The error of a request whose body would have to be sent again.
    static func exhausted(_ url: URL?) -> URLError {
        URLError(
            .requestBodyStreamExhausted,
            failing: url,
            description: "The server closed the kept-alive connection before it answered; "
                + "retry if the request may be sent twice"
        )
    }

    /// Returns a stream in the form in which the platform may send it.
    ///
    /// - Parameter length: The number of bytes, if it is known.
    static func sent(_ stream: InputStream, length: Int64? = nil) -> InputStream {
        SessionPlatform.isCorelibs ? SentStream(stream, length: length) : stream
    }

    /// Returns the event for the platform's request for a new stream. On Linux it must not get one: see
    /// ``SessionDelegate``.
    static func event(_ answer: @escaping BodyAnswer, of task: URLSessionTask) -> EngineEvent {
        guard SessionPlatform.isCorelibs else { return .bodyBegan(stream: answer) }
        // The task's first request never changes.
        (task.originalRequest?.httpBodyStream as? SentStream)?.isExhausted = true
        answer(nil)
        return .needsBody
    }

    /// Returns the error that kept the body of a task from being sent although the task ended well.
    static func failure(of task: URLSessionTask) -> (any Error)? {
        guard let stream = task.originalRequest?.httpBodyStream else { return nil }
        if (stream as? SentStream)?.isExhausted == true { return exhausted(task.originalRequest?.url) }
        // `streamError` traps where there is none.
        return stream.streamStatus == .error ? failure(of: stream, task.originalRequest?.url) : nil
    }

    /// Returns the error for a stream that can't be read.
    static func failure(of stream: InputStream, _ url: URL?) -> any Error {
        if stream is FileStream, let error = stream.streamError { return error }
        return URLError(
            .cannotOpenFile,
            failing: url,
            description: "The body stream of the request cannot be read",
            underlying: stream.streamStatus == .error ? stream.streamError : nil
        )
    }
}
