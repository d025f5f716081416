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
        let start = startOfAuthority(in: text)
        let rest = text[start...]
        // In what is refused, they may have any character unescaped.
        let isRefused = WantedFile(url: text).flaw != nil
        let authority = isRefused ? rest : rest.prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return escaping(text) }
        return escaping(text[..<start] + "…" + text[at...])
    }

    /// Returns the end of a scheme with the slashes after it, of which one may have been forgotten.
    private static func startOfAuthority(in text: String) -> String.Index {
        let rest = text.drop { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        let slashes = ["://", ":/"].first { rest.hasPrefix($0) }
        return slashes.map { rest.index(rest.startIndex, offsetBy: $0.count) } ?? text.startIndex
    }
}
