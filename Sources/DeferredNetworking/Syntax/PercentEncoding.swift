/// Percent-encoding for the parts of a URL: RFC 3986, section 2.
package enum PercentEncoding {
    /// Bytes that need no encoding in a path, the slash between its segments included.
    package static let path = unreserved.union("!$&'()*+,;=:@/")

    /// Bytes that need no encoding in a query or a fragment.
    static let query = path.union("?")

    /// Bytes that need no encoding in one segment of a path.
    package static let segment = path.subtracting("/")

    /// Bytes that need no encoding in a name or a value of a query. Plus is not among them: many servers read it as
    /// a space.
    package static let queryItem = unreserved.union("!$'()*,:@/?")

    /// Bytes that need no encoding in a user name or a password.
    package static let credential = unreserved.union("!$&'()*+,;=")

    /// Bytes that need no encoding in a form: the WHATWG URL standard, section 5.2.
    package static let form = unreserved.subtracting("~").union("*")

    private static let unreserved = ByteSet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns `text` in UTF-8, with all bytes percent-encoded that are not in `allowed`.
    ///
    /// - Parameter keepsEscapes: Whether a percent sign that begins an escape is left alone.
    package static func encode(_ text: String, allowing allowed: ByteSet, keepsEscapes: Bool = false) -> String {
        guard !allowed.containsAll(of: text) else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let isEscape = keepsEscapes && byte == UInt8(ascii: "%") && rest.prefix(2).count(where: isHexDigit) == 2
            if isEscape || allowed.contains(byte) { bytes.append(byte) } else { bytes += escape(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the escape of a byte, such as `%20`.
    static func escape(_ byte: UInt8) -> [UInt8] {
        [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Unicode.Scalar(byte).properties.isASCIIHexDigit }
}
