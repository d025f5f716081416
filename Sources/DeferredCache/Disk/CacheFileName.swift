internal import DeferredHTTP

/// The names of the files in a cache's folder. The folder's other files are the user's, and left alone.
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

    private static func name(_ kind: Kind, _ rest: String) -> String { "\(kind.rawValue)-\(rest)" }

    /// Returns `nil` for a file that no cache has written.
    static func kind(of name: String) -> Kind? {
        name.dropFirst().first == "-" ? name.first.flatMap(Kind.init) : nil
    }
}
