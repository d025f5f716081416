import Foundation

/// The directory that the files go into.
struct OutputDirectory {
    private let url: URL
    private let path: String

    /// Creates the directory, and those above it, unless it is there.
    init(path: String) throws(ProgramExit) {
        url = URL(fileURLWithPath: path, isDirectory: true)
        self.path = path
        guard Self.create(url.path), access(url.path, W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            let problem = "cannot write to the directory \"\(path)\": \(reason)"
            throw ProgramExit(text: "\(problem); choose another one with --output")
        }
    }

    func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// The file as it is told to people: as the directory was given.
    func shown(_ name: String) -> String { path == "." ? name : path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// Returns false and the reason in `errno` if that can't be. `FileManager` doesn't always tell the reason.
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
