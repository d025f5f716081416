internal import DeferredNetworking
public import Foundation

/// The body of a request: a sequence of bytes and files, or a stream of bytes.
///
/// ```swift
/// request.body = try .json(user)
/// request.body = .form(["name": "Ada", "role": "admin"])
/// request.body = .multipart([.init(name: "photo", file: url, contentType: "image/jpeg")])
/// ```
///
/// A body can be sent as often as needed, except one from ``stream(_:length:contentType:spooled:trailers:)``. Files are read while they
/// are sent, anew each time, and must not change meanwhile.
public struct HTTPBody: Sendable, Hashable {
    /// A part of a body.
    public enum Piece: Sendable, Hashable {
        /// Bytes in memory.
        case data(Data)

        /// The whole of a regular file.
        case file(URL)
    }

    /// The parts to send, in order, for a custom terminal loader; empty if the body is a stream: see
    /// ``makeByteStream()``.
    public let pieces: [Piece]

    /// The `Content-Type` of a request whose headers have none; `nil` for none.
    public let contentType: String?

    /// The source of a streamed body, which has no pieces.
    let source: StreamedBody?

    init(_ pieces: [Piece], contentType: String?, source: StreamedBody? = nil) {
        self.pieces = pieces
        self.contentType = contentType
        self.source = source
    }

    /// A body without bytes.
    public static let empty = HTTPBody([], contentType: nil)

    /// Creates a body from bytes.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> HTTPBody {
        HTTPBody([.data(data)], contentType: contentType)
    }

    /// Creates a body from text, in UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> HTTPBody {
        HTTPBody([.data(Data(text.utf8))], contentType: contentType)
    }

    /// Creates a body from a file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - file: A file URL. A request whose file can't be read fails when it is loaded.
    ///   - contentType: The value of `Content-Type`.
    public static func file(_ file: URL, contentType: String? = "application/octet-stream") -> HTTPBody {
        HTTPBody([.file(file)], contentType: contentType)
    }

    /// A Boolean value that indicates whether there is nothing to send.
    public var isEmpty: Bool { pieces.isEmpty && source == nil }

    /// The number of bytes to send; `nil` if it is unknown, or if a file's length can't be determined.
    public var length: Int64? {
        if let source { return source.length }
        var length: Int64 = 0
        for piece in pieces {
            let size: Int64
            switch piece {
            case .data(let data):
                size = Int64(data.count)
            case .file(let file):
                // Not that of a symbolic link, whose file is sent.
                guard let count = POSIXFile.lengthOfReadableRegularFile(at: file.path) else { return nil }
                size = count
            }
            let (sum, isTooLarge) = length.addingReportingOverflow(size)
            if isTooLarge { return nil }
            length = sum
        }
        return length
    }

    /// Returns an input stream over the whole body, for a custom terminal loader. It reads files as it is read itself.
    ///
    /// A streamed body would block the reader, so its input stream fails instead: use ``makeByteStream()`` for it.
    public func makeStream() -> InputStream {
        isStreamed ? PieceStream(failing: NoInputStream()) : PieceStream(pieces)
    }

    /// The bytes; `nil` if they are not all in memory.
    var bytesInMemory: Data? {
        guard !isStreamed, files.isEmpty else { return nil }
        return pieces.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } }
    }

    /// The files of the body.
    var files: [URL] {
        pieces.compactMap { if case .file(let file) = $0 { file } else { nil } }
    }
}

/// The error of an input stream over a streamed body, whose reader it would block.
private struct NoInputStream: Error, CustomStringConvertible {
    var description: String {
        "a streamed body has no input stream, since reading it would block; use makeByteStream()"
    }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The length and the type, but not the contents, which may be secret.
    public var description: String {
        "\(length.map { "\($0) bytes" } ?? "unknown length")" + (contentType.map { " of \($0)" } ?? "")
    }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}

extension HTTPBody {
    /// Creates a body from a value, encoded as JSON.
    ///
    /// - Throws: The encoder's `EncodingError`.
    public static func json(_ value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        .data(try encoder.encode(value), contentType: "application/json")
    }

    /// Creates a body from form fields, as `application/x-www-form-urlencoded`: the WHATWG URL standard, section 5.2.
    ///
    /// - Parameter fields: The fields, in order; a name can occur several times.
    public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
        form(fields.map { URLQueryItem(name: $0.key, value: $0.value) })
    }

    /// Creates a body from form fields. See ``form(_:)-(KeyValuePairs<String,String>)``.
    public static func form(_ fields: [URLQueryItem]) -> HTTPBody {
        let text = fields.map { encoded($0.name) + "=" + encoded($0.value ?? "") }.joined(separator: "&")
        return .data(Data(text.utf8), contentType: "application/x-www-form-urlencoded")
    }

    private static func encoded(_ text: String) -> String {
        PercentEncoding.encode(text, allowing: PercentEncoding.form.union(" "))
            .replacingOccurrences(of: " ", with: "+")
    }
}
