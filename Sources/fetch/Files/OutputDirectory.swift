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
        guard Self.create(url.path), access(url.path, W_OK | X_OK) == 0 else {
            throw Failure(
                description: "cannot write to the directory \"\(PrintableText.escaping(path))\": "
                    + "\(String(cString: strerror(errno))); choose another one with --output"
            )
        }
    }

    /// A new directory that nobody else uses.
    static func temporary() throws(Failure) -> OutputDirectory {
        let name = "fetch-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        return try OutputDirectory(path: FileManager.default.temporaryDirectory.appending(path: name).path)
    }

    func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// Creates a directory and those above it, or returns false and the reason in `errno`.
    ///
    /// `FileManager` doesn't always tell the reason.
    private static func create(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            errno = ENOTDIR
            return isDirectory.boolValue
        }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard parent == path || create(parent) else { return false }
        // Another program may have been faster.
        return mkdir(path, 0o777) == 0 || errno == EEXIST
    }
}
