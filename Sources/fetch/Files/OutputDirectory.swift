import Foundation

/// The directory that the files go into.
struct OutputDirectory {
    struct Failure: Error, CustomStringConvertible {
        /// One line: the path, the reason, and what to do.
        let description: String
    }

    let url: URL

    /// The path as it was given, without a trailing slash: for messages.
    let shownPath: String

    /// Creates the directory unless it is there.
    init(path: String) throws(Failure) {
        url = URL(fileURLWithPath: path, isDirectory: true)
        shownPath = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw Self.failure(path, (error as NSError).localizedDescription)
        }
        guard access(url.path, W_OK | X_OK) == 0 else {
            throw Self.failure(path, String(cString: strerror(errno)))
        }
    }

    /// A new directory that nobody else uses.
    static func temporary() throws(Failure) -> OutputDirectory {
        let name = "fetch-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        return try OutputDirectory(path: FileManager.default.temporaryDirectory.appending(path: name).path)
    }

    func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    private static func failure(_ path: String, _ reason: String) -> Failure {
        Failure(
            description: "cannot write to the directory \"\(PrintableText.escaping(path))\": \(reason); "
                + "choose another one with --output"
        )
    }
}
