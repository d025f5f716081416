import Foundation

/// A file that an argument or a line of a list requests.
struct WantedFile: Equatable {
    /// The URL as it was typed.
    let url: String

    /// The file's name; nil for a name derived from the URL.
    var name: String?

    /// The URL as it is sent, if it is one: without the fragment.
    var sent: URL? { URL(string: withoutFragment) }

    private var withoutFragment: String { String(url.prefix { $0 != "#" }) }

    /// The reason for which it can't be downloaded, if there is one.
    var flaw: DownloadFailure? {
        let reason: String
        if !withoutFragment.contains("://") {
            reason = "it has no scheme"
        } else if let sent {
            if !["http", "https"].contains(sent.scheme?.lowercased()) {
                reason = "its scheme is not http or https"
            } else if sent.host(percentEncoded: true) ?? "" == "" {
                reason = "it names no host"
            } else if let port = sent.port, !(1...65_535).contains(port) {
                reason = "its port is not one from 1 to 65535"
            } else {
                return nil
            }
        } else {
            reason = "it is not a URL"
        }
        return DownloadFailure(reason: reason, advice: "write it like https://example.com/file.zip")
    }

    /// Reads the list in a file, or from standard input for "-".
    static func list(at path: String) throws(ProgramExit) -> [WantedFile] {
        list(in: String(decoding: try InputFile.read(path, atMost: 64 << 20), as: UTF8.self))
    }

    /// Parses a list: one URL a line, optionally with a tab and a file name. Skips empty lines and those that begin
    /// with "#".
    static func list(in text: String) -> [WantedFile] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                part.trimmingCharacters(in: .whitespaces.union(["\u{FEFF}"]))
            }
            guard !parts[0].isEmpty, !parts[0].hasPrefix("#") else { return nil }
            return WantedFile(url: parts[0], name: parts.count > 1 && !parts[1].isEmpty ? parts[1] : nil)
        }
    }
}
