import Foundation

/// Names for several files in one directory.
enum DistinctNames {
    /// A name for each URL, all different, also where upper and lower case are not told apart.
    ///
    /// URLs that share a name get a mark made from the whole URL, every one of them, so that a URL's name depends neither on
    /// the order nor on the number of the others with that name. The URLs themselves have to be different.
    static func names(for urls: [URL]) -> [String] {
        let plain = urls.map(FileName.name)
        let counts = plain.reduce(into: [:]) { $0[key($1), default: 0] += 1 }
        // Unshared names are taken first, so that a mark can't make one shared.
        var taken = Set(counts.filter { $0.value == 1 }.keys)
        return zip(urls, plain).map { url, name in
            guard counts[key(name)] != 1 else { return name }
            var result = FileName.marked(name, with: mark(for: url.absoluteString))
            var number = 2
            while !taken.insert(key(result)).inserted {
                result = FileName.marked(name, with: mark(for: "\(number) \(url.absoluteString)"))
                number += 1
            }
            return result
        }
    }

    private static func key(_ name: String) -> String {
        name.precomposedStringWithCanonicalMapping.lowercased()
    }

    /// Eight hexadecimal digits: FNV-1a, which is the same in every process, unlike `Hasher`.
    private static func mark(for text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(UInt32(truncatingIfNeeded: hash ^ hash >> 32), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
