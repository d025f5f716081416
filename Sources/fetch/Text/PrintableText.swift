/// Text from outside, made fit for a line on a terminal.
enum PrintableText {
    /// Whether the scalar could move the cursor, change colours, or reverse what is around it.
    static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        // Joiners are part of words and of emoji.
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: false
        }
    }

    /// `text` with harmful scalars spelled out, such as `\u{1B}`.
    static func escaping(_ text: some StringProtocol) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            if isHarmful(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// A URL as it was typed, without the user name and the password in it.
    static func url(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "//") else { return escaping(text) }
        let authority = text[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return escaping(text) }
        return escaping(text[..<scheme.upperBound] + "…" + text[at...])
    }
}
