internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// The body of an upload. It can be sent more than once, after a redirect, a challenge or a failure, except one from
    /// ``stream(_:length:spooled:trailers:)``.
    public struct UploadBody: Sendable {
        enum Source: Sendable {
            case data(Data)
            case file(URL)
            case inputStream(@Sendable () -> InputStream)
            case streamed(StreamedBody)
        }

        let source: Source

        /// The body of an upload that can be resumed; nil if no part can be sent again.
        fileprivate var resumable: ResumableBody? {
            switch source {
            case .data(let data): .data(data)
            case .file(let file): .file(file, length: POSIXFile.lengthOfReadableRegularFile(at: file.path) ?? 0)
            case .inputStream, .streamed: nil
            }
        }

        /// Returns the request with this body, whose closures get the caller's task-locals.
        func set(in request: URLRequest) -> (URLRequest, CheckedRequest.Body) {
            var request = request
            request.httpBodyStream = nil
            request.httpBody = nil
            switch source {
            case .data(let data):
                request.httpBody = data
                return (request, .inRequest)
            case .file(let file):
                return (request, .file(file))
            case .inputStream(let make):
                let locals: TaskLocals? = TaskLocals(ofRunningCode: ())
                return (request, .stream { locals.restore(make) })
            case .streamed(let body):
                return (request, .streamed(body, TaskLocals(ofRunningCode: ())))
            }
        }

        /// Bytes in memory: the fastest.
        public static func data(_ data: Data) -> UploadBody { UploadBody(source: .data(data)) }

        /// A regular file, read while it is sent. It must not change meanwhile.
        public static func file(_ file: URL) -> UploadBody { UploadBody(source: .file(file)) }

        /// A part of a regular file, read while it is sent, for a large file in several requests at once. It must not change
        /// meanwhile.
        ///
        /// - Parameters:
        ///   - file: The file. A request fails with ``URLClientError/Code/invalidRequest(reason:)`` if it can't be read, or ends
        ///     before the range.
        ///   - range: The offsets of the bytes.
        public static func file(_ file: URL, range: Range<Int64>) -> UploadBody {
            UploadBody(source: .streamed(StreamedBody(of: file, range: range)))
        }

        /// A closure that returns a new input stream each time the body is sent. Its length is unknown.
        ///
        /// The request fails with ``URLClientError/Code/invalidRequest(reason:)`` for a stream that was read or closed
        /// before, and with `URLError.cannotOpenFile` for one that can't be opened.
        ///
        /// Over `URLSession` on Linux, a stream that has no bytes available when it is opened counts as empty, and a
        /// stream that blocks also blocks all sessions of the process: use only streams over memory or files there.
        public static func stream(_ make: @escaping @Sendable () -> InputStream) -> UploadBody {
            UploadBody(source: .inputStream(make))
        }

        /// An asynchronous sequence of bytes, which can be sent only once: another request with it fails with
        /// ``URLClientError/Code/invalidRequest(reason:)``.
        ///
        /// Over libcurl, the bytes go out as they are made: the next ones are asked for while the last ones are sent, and
        /// the response may come meanwhile. A sequence that throws fails the request with its error, and one whose request
        /// has ended is cancelled, with the Swift task in which it runs. Over HTTP/1.1, a request ends when its body and its
        /// response are complete, or with a response whose status is 300 or above; a stream of the response's body ends with
        /// that. A connection that the server closes meanwhile ends it as well, with the response if that is whole. The idle
        /// deadline applies while the
        /// sequence makes nothing and the server is silent.
        ///
        /// Over `URLSession`, and if `spooled` is true, all of the bytes are first gathered in a temporary file, which only
        /// its owner can read, and then sent with their length. The request's deadlines
        /// count meanwhile.
        ///
        /// - Parameters:
        ///   - bytes: The bytes, in pieces of any size. Kept until they have been sent.
        ///   - length: The number of bytes, if it is known; otherwise, HTTP/1.1 sends them in chunks. A request whose body
        ///     turns out to have another length fails with ``URLClientError/Code/invalidRequest(reason:)``, for which the last
        ///     byte waits until the sequence has ended.
        ///   - spooled: Whether to gather the bytes first, so that they can be sent again.
        ///   - trailers: The fields to send behind the bytes.
        public static func stream<Bytes: AsyncSequence & Sendable>(
            _ bytes: Bytes,
            length: Int64? = nil,
            spooled: Bool = false,
            trailers: HTTPTrailers? = nil
        ) -> UploadBody where Bytes.Element == Data {
            let body = StreamedBody(
                length: length,
                isSpooled: spooled,
                alreadySent: alreadySent,
                trailers: trailers
            ) { HTTPBodyStream(bytes) }
            return UploadBody(source: .streamed(body))
        }

        private static let alreadySent = URLClientError.invalidRequest(
            reason:
                "the sequence of its body can be sent once, and was; give UploadBody.stream a closure that makes it anew"
        )

        /// A closure that returns a new asynchronous sequence of bytes each time the body is sent.
        ///
        /// See ``stream(_:length:spooled:trailers:)``.
        ///
        /// - Parameters:
        ///   - length: The number of bytes, if it is known.
        ///   - spooled: Whether to gather the bytes first, and call `make` only once.
        ///   - trailers: The fields to send behind the bytes.
        ///   - make: Returns a sequence of all of the bytes, from the first.
        public static func stream<Bytes: AsyncSequence & Sendable>(
            length: Int64? = nil,
            spooled: Bool = false,
            trailers: HTTPTrailers? = nil,
            _ make: @escaping @Sendable () -> Bytes
        ) -> UploadBody where Bytes.Element == Data {
            let body = StreamedBody(length: length, isSpooled: spooled, alreadySent: nil, trailers: trailers) {
                HTTPBodyStream(make())
            }
            return UploadBody(source: .streamed(body))
        }
    }

    /// Begins a request with a body, and succeeds with the response and its body.
    ///
    /// - Parameters:
    ///   - request: A request whose method has a body. Its `httpBody` is replaced.
    ///   - body: The body to send.
    ///   - options: Settings for this request only.
    /// - Returns: A task like that of ``begin(_:options:)-(URLRequest,_)``, whose progress counts the bytes of the body
    ///   that the system has taken; those of a stream have no total. It fails with
    ///   ``URLClientError/Code/invalidRequest(reason:)`` for a `GET`, and for a file that can't be read. If a file becomes
    ///   shorter while it is sent, the task fails, on Linux at once, otherwise at the idle deadline. On Linux and over
    ///   HTTP/2, it also fails at the idle deadline if the server answers without reading the body.
    public func upload(
        _ request: URLRequest,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, ResponseHead)> {
        let resumable = options.resumesUpload ? body.resumable : nil
        let (request, source) = body.set(in: request)
        return begin(request, source, counting: .sent, options, resuming: resumable)
    }

    /// Begins a `POST` request with a body. See ``upload(_:from:options:)-(URLRequest,_,_)``.
    public func upload(
        _ url: URL,
        from body: UploadBody,
        options: RequestOptions = .init()
    ) -> Task<(Data, ResponseHead)> {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        return upload(request, from: body, options: options)
    }
}
