import Foundation

/// A file that an argument or a line of a list requests.
struct WantedFile: Equatable {
    /// The URL as it was typed.
    let url: String

    /// The file's name; nil for a name derived from the URL.
    var name: String?

    /// The URL as it is sent, without the fragment, or the reason for which it can't be downloaded.
    var sent: Result<URL, DownloadFailure> {
        func refused(_ reason: String) -> Result<URL, DownloadFailure> {
            .failure(DownloadFailure(reason: reason, advice: "write it like https://example.com/file.zip"))
        }
        let text = String(url.prefix { $0 != "#" })
        guard text.contains("://") else { return refused("it has no scheme") }
        guard let sent = URL(string: text) else { return refused("it is not a URL") }
        let isWeb = ["http", "https"].contains(sent.scheme?.lowercased())
        guard isWeb else { return refused("its scheme is not http or https") }
        guard sent.host(percentEncoded: true) ?? "" != "" else { return refused("it names no host") }
        guard (1...65_535).contains(sent.port ?? 80) else { return refused("its port is not one from 1 to 65535") }
        return .success(sent)
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
