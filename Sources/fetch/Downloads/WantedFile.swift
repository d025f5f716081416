import Foundation

/// A file that an argument or a line of a list asks for.
struct WantedFile: Equatable {
    /// As it was typed.
    let url: String

    /// What the file is to be called; nil for a name made from the URL.
    var name: String?

    /// What is longer is a device, or no list.
    private static let longestList = 64 << 20

    /// The lines of a file, or of standard input for "-".
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

    /// One URL a line, and a file name after a tab. Empty lines and those that begin with "#" are left out.
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
