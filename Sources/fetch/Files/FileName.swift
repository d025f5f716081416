import Foundation

/// Derives file names from URLs.
enum FileName {
    /// The maximum length in bytes. It leaves room, in the 255 bytes that file systems allow, for a mark and for
    /// `.partial.validator`.
    static let longest = 200

    /// Returns the sanitised last component of a URL's path.
    static func name(for url: URL) -> String {
        let path = url.path(percentEncoded: true)
        let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        // Percent escapes that are not UTF-8 stay as they are.
        let name = sanitised(last.removingPercentEncoding ?? String(last))
        // The file would be hidden from its owner.
        return name.unicodeScalars.first == "." ? "_" + String(name.unicodeScalars.dropFirst()) : name
    }

    /// Returns a name without path separators, control characters and everything else that a name should not contain.
    static func sanitised(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            scalar == "/" || scalar == "\\" || PrintableText.isHarmful(scalar) ? "_" : scalar
        }
        let trimmed = scalars.reduce(into: "") { $0.unicodeScalars.append($1) }.trimmingCharacters(in: .whitespaces)
        var name = shortened(trimmed).trimmingCharacters(in: .whitespaces)
        guard !name.allSatisfy({ $0 == "." }) else { return "index.html" }
        // These would be mistaken for the partial file of another download.
        if [".partial", ".partial.validator"].contains(where: name.lowercased().hasSuffix) { name += "_" }
        return name
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let (stem, ending) = parts(of: name)
        // An ending this long is not a file type.
        guard ending.utf8.count <= 20 else { return prefix(name[...], longest) }
        return prefix(stem, longest - ending.utf8.count) + ending
    }

    /// Returns the longest prefix of at most `limit` bytes, in whole characters unless the first one is too long.
    private static func prefix(_ text: Substring, _ limit: Int) -> String {
        let whole = FittedText.prefix(text, limit) { $0.utf8.count }
        guard whole.isEmpty else { return whole }
        var left = limit
        let scalars = text.unicodeScalars.prefix { scalar in
            left -= String(scalar).utf8.count
            return left >= 0
        }
        return String(scalars)
    }

    /// Returns unique names, also for file systems that ignore case.
    ///
    /// All files that share a name get a mark derived from the whole URL, so that the name for a URL depends neither on
    /// the order nor on the number of the other files with that name.
    static func distinct(_ files: [(url: URL, name: String)]) -> [String] {
        let counts = files.reduce(into: [:]) { $0[key($1.name), default: 0] += 1 }
        // Unique names are reserved first, so that no marked name can collide with them.
        var taken = Set(counts.filter { $0.value == 1 }.keys)
        return files.map { url, name in
            guard counts[key(name)] != 1 else { return name }
            var (result, number) = (marked(name, with: mark(for: url.absoluteString)), 2)
            while !taken.insert(key(result)).inserted {
                result = marked(name, with: mark(for: "\(number) \(url.absoluteString)"))
                number += 1
            }
            return result
        }
    }

    /// Returns `name` with `mark` before its file type.
    static func marked(_ name: String, with mark: String) -> String {
        let (stem, ending) = parts(of: name)
        return stem + "-" + mark + ending
    }

    private static func key(_ name: String) -> String { name.precomposedStringWithCanonicalMapping.lowercased() }

    /// Returns eight hexadecimal digits: an FNV-1a hash, which is the same in every process, unlike `Hasher`.
    private static func mark(for text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(format: "%08x", UInt32(truncatingIfNeeded: hash ^ hash >> 32))
    }

    /// Splits a name into its stem and its file type with the dots.
    private static func parts(of name: String) -> (stem: Substring, ending: Substring) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name[...], "") }
        let stem = name[..<dot]
        guard stem.hasSuffix(".tar"), stem.count > 4 else { return (stem, name[dot...]) }
        return (stem.dropLast(4), name[stem.index(stem.endIndex, offsetBy: -4)...])
    }
}
