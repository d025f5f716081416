internal import DeferredNetworking
public import Foundation

extension HTTPBody {
    /// Creates a streamed body that can be sent only once.
    ///
    /// Over libcurl, the bytes go out as they are made: the next piece is asked for while the last one is sent. The response
    /// may come meanwhile. A sequence that throws ends the request with its error, and one whose request has ended is
    /// cancelled, with the Swift task in which it runs. Over HTTP/1.1, a request ends when its body and its response are
    /// complete, or with a response whose status is 300 or above; a stream of the response's body ends with that. The
    /// request's idle deadline applies while the sequence makes nothing and the server is silent.
    ///
    /// Over `URLSession`, and if `spooled` is true, all of the bytes are first gathered in a temporary file, which only its
    /// owner can read, and then sent with their length. The request's deadlines
    /// count meanwhile.
    ///
    /// A request with such a body is not tried again, unless it is spooled: not by ``Retry``, and not by
    /// ``BearerAuthentication``. For a body that can be sent again, use ``stream(length:contentType:spooled:trailers:_:)``.
    ///
    /// - Parameters:
    ///   - bytes: The bytes, in pieces of any size. Kept until they have been sent.
    ///   - length: The number of bytes, if it is known; otherwise, HTTP/1.1 sends them in chunks. A request whose body turns
    ///     out to have another length fails, for which the last byte waits until the sequence has ended.
    ///   - contentType: The value of `Content-Type`.
    ///   - spooled: Whether to gather the bytes first, so that they can be sent again. The file is removed with the last copy
    ///     of the body.
    ///   - trailers: The fields to send behind the bytes.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        spooled: Bool = false,
        trailers: HTTPTrailers? = nil
    ) -> HTTPBody where Bytes.Element == Data {
        let source = StreamedBody(
            length: length,
            isSpooled: spooled,
            alreadySent: AlreadySent(),
            trailers: trailers,
            mapError: Failure.init
        ) { HTTPBodyStream(bytes) }
        return HTTPBody([], contentType: contentType, source: source)
    }

    /// Creates a streamed body that can be sent as often as needed.
    ///
    /// See ``stream(_:length:contentType:spooled:trailers:)``.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if it is known.
    ///   - contentType: The value of `Content-Type`.
    ///   - spooled: Whether to gather the bytes first, and call `make` only once.
    ///   - trailers: The fields to send behind the bytes.
    ///   - make: Returns a sequence of all of the bytes, from the first. Called each time that they are sent.
    public static func stream<Bytes: AsyncSequence & Sendable>(
        length: Int64? = nil,
        contentType: String? = "application/octet-stream",
        spooled: Bool = false,
        trailers: HTTPTrailers? = nil,
        _ make: @escaping @Sendable () -> Bytes
    ) -> HTTPBody where Bytes.Element == Data {
        let source = StreamedBody(
            length: length,
            isSpooled: spooled,
            alreadySent: nil,
            trailers: trailers,
            mapError: Failure.init
        ) { HTTPBodyStream(make()) }
        return HTTPBody([], contentType: contentType, source: source)
    }

    /// Creates a body from a part of a file, which is read while it is sent, for a large file in several requests at once.
    ///
    /// - Parameters:
    ///   - file: A file URL. A request fails if the file can't be read, or ends before the range.
    ///   - range: The offsets of the bytes.
    ///   - contentType: The value of `Content-Type`.
    public static func file(
        _ file: URL,
        range: Range<Int64>,
        contentType: String? = "application/octet-stream"
    ) -> HTTPBody {
        HTTPBody([], contentType: contentType, source: StreamedBody(of: file, range: range))
    }

    /// Returns the bytes of a body that was made from an asynchronous sequence or a part of a file.
    ///
    /// - Returns: `nil` for other bodies, whose bytes are in ``pieces`` and come from ``makeStream()``.
    ///
    /// The stream of a body that can be sent only once throws the second time.
    public func makeByteStream() -> HTTPBodyStream? { source?.open() }

    /// True if the bytes come from an asynchronous sequence.
    var isStreamed: Bool { source != nil }

    /// True if the body can be sent only once.
    var isOneShot: Bool { source?.isOneShot ?? false }

    /// The error of the second stream of a body that can be sent only once.
    struct AlreadySent: DisplayableError {
        static let reason =
            "the body can be sent once, and was; give HTTPBody.stream a closure that makes the bytes anew"
        var description: String { Self.reason }
    }

    /// The error of a request whose body could not be made.
    struct Failure: Error {
        let underlying: any Error
    }
}
