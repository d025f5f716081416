import Foundation

/// The name a URL's file gets.
enum FileName {
    /// Leaves room, in the 255 bytes that file systems allow, for a mark and for `.partial.validator`.
    static let longest = 200

    private static let fallback = "index.html"

    /// A name without directories, control characters or anything else that a name should not have.
    static func name(for url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard let last = path.split(separator: "/", omittingEmptySubsequences: false).last else { return fallback }
        // Percent escapes that are no UTF-8 stay as they are.
        return sanitised(last.removingPercentEncoding ?? String(last))
    }

    static func sanitised(_ text: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            let isSeparator = scalar == "/" || scalar == "\\"
            name.unicodeScalars.append(isSeparator || PrintableText.isHarmful(scalar) ? "_" : scalar)
        }
        name = name.trimmingCharacters(in: .whitespaces)
        guard !name.allSatisfy({ $0 == "." }) else { return fallback }
        // These would be taken for what is left of another download.
        if [".partial", ".partial.validator"].contains(where: name.lowercased().hasSuffix) {
            name += "_"
        }
        return shortened(name)
    }

    /// `name` with `mark` before its extension.
    static func marked(_ name: String, with mark: String) -> String {
        let (stem, ending) = parts(of: name)
        return stem + "-" + mark + ending
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let (stem, ending) = parts(of: name)
        // An ending this long is no file type.
        let kept = ending.utf8.count <= 20 ? ending : ""
        return prefix(kept.isEmpty ? name[...] : stem, longest - kept.utf8.count) + kept
    }

    /// What comes before the file type, and the type with its dots.
    private static func parts(of name: String) -> (stem: Substring, ending: Substring) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name[...], "") }
        let stem = name[..<dot]
        guard stem.hasSuffix(".tar"), stem.count > 4 else { return (stem, name[dot...]) }
        return (stem.dropLast(4), name[stem.index(stem.endIndex, offsetBy: -4)...])
    }

    private static func prefix(_ text: some StringProtocol, _ limit: Int) -> String {
        var left = limit
        return String(
            text.prefix {
                left -= $0.utf8.count
                return left >= 0
            }
        )
    }
}
