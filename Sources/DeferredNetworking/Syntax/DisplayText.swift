package import Foundation

/// Makes text from outside safe to show in one line of an error message.
package enum DisplayText {
    private static let longest = 200

    /// Returns `text` in quotation marks, truncated if it is long, with control characters escaped.
    package static func quoted(_ text: String) -> String {
        shortened(text).unicodeScalars.reduce(into: "\"") { $0 += escaped($1) } + "\""
    }

    /// Returns `text`, truncated if it is long.
    package static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        let end = scalars.index(scalars.startIndex, offsetBy: longest, limitedBy: scalars.endIndex)
        return end.map { $0 < scalars.endIndex ? text[..<$0] + "…" : text } ?? text
    }

    /// Returns `url` in quotation marks, without credentials.
    package static func quoted(_ url: URL) -> String {
        quoted(Redaction.url(url))
    }

    /// Returns `host` in quotation marks, without a user name and password that may precede it.
    package static func quoted(withoutUser host: String) -> String {
        quoted(Redaction.host(host))
    }

    /// Returns `text` with control characters and line separators escaped, so that it stays one line and can't forge
    /// another.
    package static func line(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            result += scalar == "\"" ? "\"" : escaped(scalar)
        }
    }

    /// Returns true if `text` contains control characters. ASCII, the common case, is checked byte by byte.
    static func hasControls(_ text: String) -> Bool {
        if text.withBytes({ $0.allSatisfy { (0x20..<0x7F).contains($0) } }) { return false }
        return text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\r": "\\r"
        case "\n": "\\n"
        case "\t": "\\t"
        case "\0": "\\0"
        case "\"": "\\\""
        default:
            [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
                ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                : String(scalar)
        }
    }
}
