#if os(Linux)
import Foundation

/// A fact about a connection that libcurl tells in the texts of its debug function alone.
enum LibcurlReport: Equatable {
    /// The request has this stream.
    case stream(Int)

    /// The server will process no stream of the connection above this one. Told since libcurl 7.88.
    case goneAway(last: Int)

    /// The server has refused the request's stream, and libcurl begins again.
    case refused

    /// The server has sent a TLS alert, perhaps one that libcurl reads only when it closes a connection that was reset.
    case alert(Int)

    /// - Parameter text: A line of libcurl's; nearly all of them tell nothing that is needed here.
    init?(_ text: UnsafeRawBufferPointer) {
        switch text.first {
        case UInt8(ascii: "U"):
            self.init(streamIn: text, after: "Using Stream ID: ")
        case UInt8(ascii: "["):
            // Since 8.3. Lines about the request's fields begin in the same way.
            guard String(decoding: text.prefix(64), as: UTF8.self).contains("] OPENED stream") else { return nil }
            self.init(streamIn: text, after: "[HTTP/2] [")
        case UInt8(ascii: "r"):
            let text = String(decoding: text, as: UTF8.self)
            guard text.contains("GOAWAY"), let mark = text.range(of: "last_stream=") else { return nil }
            guard let last = Int(text[mark.upperBound...].prefix { $0.isASCII && $0.isNumber }) else { return nil }
            self = .goneAway(last: last)
        case UInt8(ascii: "R"):
            guard text.starts(with: "REFUSED_STREAM, retrying".utf8) else { return nil }
            self = .refused
        case UInt8(ascii: "T"):
            let text = String(decoding: text, as: UTF8.self)
            guard text.contains("(IN), TLS alert"), let mark = text.lastIndex(of: "(") else { return nil }
            // The level is in the byte above.
            guard let number = Int(text[mark...].dropFirst().prefix { $0.isASCII && $0.isNumber }) else { return nil }
            self = .alert(number & 0xFF)
        default:
            return nil
        }
    }

    private init?(streamIn text: UnsafeRawBufferPointer, after prefix: String) {
        guard text.starts(with: prefix.utf8) else { return nil }
        let digits = text.dropFirst(prefix.utf8.count).prefix(while: HTTPNumber.isDigit)
        guard let stream = Int(String(decoding: digits, as: UTF8.self)) else { return nil }
        self = .stream(stream)
    }
}
#endif
