/// The grammar of methods and field names: RFC 9110, section 5.6.2.
package enum HTTPToken {
    /// Whether `text` is a token: at least one character, and none of them a delimiter, a control or non-ASCII.
    package static func isValid(_ text: String) -> Bool {
        !text.isEmpty && characters.containsAll(of: text)
    }

    private static let characters = ByteSet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
    )
}
