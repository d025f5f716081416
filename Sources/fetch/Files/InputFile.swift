import Foundation

/// Reads files that options name.
enum InputFile {
    /// Returns the contents of a file, or of standard input for "-".
    ///
    /// - Parameter limit: The maximum length in bytes. A longer file is a device, or not what was meant.
    static func read(_ path: String, atMost limit: Int) throws(ProgramExit) -> Data {
        do {
            let file = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(literalPath: path))
            let data = try file.read(upToCount: limit + 1) ?? Data()
            guard data.count <= limit else { throw CocoaError(.fileReadTooLarge) }
            return data
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
            let reason = cause.map { String(cString: strerror(Int32($0.code))) } ?? error.localizedDescription
            throw ProgramExit(text: "cannot read \"\(path)\": \(reason)")
        }
    }
}
