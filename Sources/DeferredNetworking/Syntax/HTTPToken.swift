/// The grammar of methods and field names: RFC 9110, section 5.6.2.
package enum HTTPToken {
    /// Returns true if `text` is a token: at least one character, and no delimiters, control or non-ASCII characters.
    package static func isValid(_ text: String) -> Bool {
        !text.isEmpty && characters.containsAll(of: text)
    }

    private static let characters = ByteSet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
    )
}
