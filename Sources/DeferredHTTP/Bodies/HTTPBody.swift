public import Foundation

/// The body of a request: bytes and files, one after the other, or bytes that come by and by.
///
/// ```swift
/// request.body = try .json(user)
/// request.body = .form(["name": "Ada", "role": "admin"])
/// request.body = .multipart([.init(name: "photo", file: url, contentType: "image/jpeg")])
/// ```
///
/// A body can be sent as often as needed, but for those of ``stream(_:length:contentType:)``. Files are read while they
/// are sent, each time anew, and must not change meanwhile.
public struct HTTPBody: Sendable, Hashable {
    /// A part of a body.
    public enum Piece: Sendable, Hashable {
        /// Bytes in memory.
        case data(Data)

        /// A regular file, all of it.
        case file(URL)
    }

    /// The parts that are sent, in order, for a terminal loader of one's own; none for ``makeByteStream()``.
    public let pieces: [Piece]

    /// For the `Content-Type` of a request that has none; `nil` for none.
    public let contentType: String?

    /// Bytes that come by and by; then there are no pieces.
    let source: Source?

    init(_ pieces: [Piece], contentType: String?, source: Source? = nil) {
        self.pieces = pieces
        self.contentType = contentType
        self.source = source
    }

    /// Nothing.
    public static let empty = HTTPBody([], contentType: nil)

    /// Bytes.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> HTTPBody {
        HTTPBody([.data(data)], contentType: contentType)
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> HTTPBody {
        HTTPBody([.data(Data(text.utf8))], contentType: contentType)
    }

    /// A file, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - file: A file URL. A request whose file can't be read fails when it is loaded.
    ///   - contentType: For the `Content-Type`.
    public static func file(_ file: URL, contentType: String? = "application/octet-stream") -> HTTPBody {
        HTTPBody([.file(file)], contentType: contentType)
    }

    /// True if nothing is sent.
    public var isEmpty: Bool { pieces.isEmpty && source == nil }

    /// The number of bytes that are sent; `nil` if that is not known, or a file's length can't be found out.
    public var length: Int64? {
        if let source { return source.length }
        var length: Int64 = 0
        for piece in pieces {
            switch piece {
            case .data(let data):
                length += Int64(data.count)
            case .file(let file):
                guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path),
                    let size = attributes[.size] as? Int64
                else { return nil }
                length += size
            }
        }
        return length
    }

    /// A stream of all that is sent, for a terminal loader of one's own. It reads files as it is read itself.
    ///
    /// Bytes that come by and by would keep its reader waiting: for those, use ``makeByteStream()``. Here they fail.
    public func makeStream() -> InputStream {
        isStreamed ? PieceStream(failing: NoInputStream()) : PieceStream(pieces)
    }

    /// The files of the body.
    var files: [URL] {
        pieces.compactMap { if case .file(let file) = $0 { file } else { nil } }
    }
}

/// The error of an input stream that would have to wait for bytes which come by and by.
private struct NoInputStream: Error, CustomStringConvertible {
    var description: String { "the body comes by and by; read it with makeByteStream()" }
}

extension HTTPBody: CustomStringConvertible, CustomReflectable {
    /// The length and the type. Not the contents, which may be a secret.
    public var description: String {
        "\(length.map { "\($0) bytes" } ?? "unknown length")" + (contentType.map { " of \($0)" } ?? "")
    }

    /// The same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["body": description]) }
}
