/// Makes untrusted text safe for a line on a terminal.
enum PrintableText {
    /// Returns true if the scalar could move the cursor, change colours, or reverse the text around it.
    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        // Joiners occur in words and in emoji.
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }

    /// Returns `text` with harmful scalars escaped, such as `\u{1B}`.
    static func escaping(_ text: some StringProtocol) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if isHarmful(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns a URL as it was typed, without the user name and password.
    static func url(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "//") else { return escaping(text) }
        let authority = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return escaping(text) }
        return escaping(text[..<scheme.upperBound] + "…" + text[at...])
    }
}
