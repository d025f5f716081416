import Foundation

/// The expected SHA-256 of a file.
struct Checksum: Equatable, Sendable {
    /// 64 hexadecimal digits in lower case.
    let digits: String

    /// Parses a checksum such as `sha256:` and 64 digits.
    init?(_ text: String) {
        let parts = text.lowercased().split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "sha256", parts[1].utf8.count == 64 else { return nil }
        guard parts[1].allSatisfy(\.isHexDigit) else { return nil }
        digits = String(parts[1])
    }

    /// Gives a file its final name, if it has the checksum.
    func accept(_ file: URL, as destination: URL) throws {
        let handle = try FileHandle(forReadingFrom: file)
        defer { try? handle.close() }
        var hash = SHA256()
        while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty { hash.update(bytes) }
        let found = hash.finish().map { String(format: "%02x", $0) }.joined()
        guard found == digits else {
            throw DownloadFailure(
                reason: "the file's SHA-256 is \(found), and not \(digits)",
                advice: "check the URL and the checksum; the file is kept as \"\(file.lastPathComponent)\""
            )
        }
        guard rename(file.path, destination.path) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }
}
