import Foundation

/// A file that an argument or a line of a list requests.
struct WantedFile: Equatable {
    /// The URL as it was typed.
    let url: String

    /// The file's name; nil for a name derived from the URL.
    var name: String?

    /// The maximum length of a list, in bytes. A longer file is a device, or not a list.
    private static let longestList = 64 << 20

    /// Reads the list in a file, or from standard input for "-".
    static func list(at path: String) throws(ProgramExit) -> [WantedFile] {
        do {
            let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            let data = try file.read(upToCount: longestList + 1) ?? Data()
            guard data.count <= longestList else { throw CocoaError(.fileReadTooLarge) }
            return list(in: String(decoding: data, as: UTF8.self))
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let reason = cause.map { String(cString: strerror(Int32($0.code))) } ?? error.localizedDescription
            throw ProgramExit(text: "cannot read \"\(path)\": \(reason)")
        }
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
