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
        // Of the slashes after a scheme, one may have been forgotten.
        let afterScheme = text.drop { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let slashes = ["://", ":/"].first { afterScheme.hasPrefix($0) }
        let rest = slashes.map { afterScheme.dropFirst($0.count) } ?? text[...]
        // In what is refused, they may have any character unescaped.
        let isRefused = if case .failure = WantedFile(url: text).sent { true } else { false }
        let authority = isRefused ? rest : rest.prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return escaping(text) }
        return escaping(text[..<rest.startIndex] + "…" + text[at...])
    }
}
