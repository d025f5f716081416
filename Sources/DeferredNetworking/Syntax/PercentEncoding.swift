internal import DeferredNetworking

/// Percent-encoding for the parts of a URL: RFC 3986, section 2.
enum PercentEncoding {
    /// Bytes that need no encoding in a path, the slash between its segments included.
    static let path = unreserved.union("!$&'()*+,;=:@/")

    /// Bytes that need no encoding in one segment of a path.
    static let segment = path.subtracting("/")

    /// Bytes that need no encoding in a name or a value of a query. Plus is not among them: many servers read it as
    /// a space.
    static let queryItem = unreserved.union("!$'()*,:@/?")

    /// Bytes that need no encoding in a user name or a password.
    static let credential = unreserved.union("!$&'()*+,;=")

    /// Bytes that need no encoding in a form: the WHATWG URL standard, section 5.2.
    static let form = unreserved.subtracting("~").union("*")

    private static let unreserved = ByteSet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns `text` in UTF-8, with all bytes percent-encoded that are not in `allowed`.
    static func encode(_ text: String, allowing allowed: ByteSet) -> String {
        guard !allowed.containsAll(of: text) else { return text }
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if allowed.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
