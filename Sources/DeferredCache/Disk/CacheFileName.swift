internal import DeferredHTTP

/// The names of the files in a cache's folder: a kind, the version of the format, and a number.
///
/// With the version, two releases beside each other leave each other's files alone. The folder's other files are the user's.
enum CacheFileName {
    enum Kind: Character {
        /// All that is stored of a resource besides the bodies.
        case head = "h"
        case body = "b"
        /// A file that is being written, to be renamed then.
        case temporary = "t"
    }

    static func head(of key: CacheKey) -> String { name(.head, String(SHA256.text(Array(key.text.utf8)).prefix(32))) }

    static func body(_ version: UInt64) -> String { name(.body, String(version, radix: 16)) }

    static func temporary() -> String { name(.temporary, String(UInt64.random(in: 0 ... .max), radix: 16)) }

    private static func name(_ kind: Kind, _ rest: String) -> String { "\(kind.rawValue)-\(HeadFile.version)-\(rest)" }

    /// Returns `nil` for a file that this version of the format has not written.
    static func kind(of name: String) -> Kind? {
        guard let (kind, version) = parts(name), version == HeadFile.version else { return nil }
        return kind
    }

    /// Returns whether another version of the format has written a file. Before the first release, names had no version.
    static func isForeign(_ name: String) -> Bool { parts(name).map { $0.version != HeadFile.version } ?? false }

    private static func parts(_ name: String) -> (kind: Kind, version: UInt32)? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3,
            let kind = parts[0].count == 1 ? parts[0].first.flatMap(Kind.init) : nil,
            let version = parts.count == 2 ? 0 : UInt32(parts[1]), let number = parts.last, !number.isEmpty,
            number.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return (kind, version)
    }
}
