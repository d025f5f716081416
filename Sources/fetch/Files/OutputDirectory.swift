import Foundation

/// The directory for the downloaded files.
struct OutputDirectory {
    private let url: URL
    private let path: String

    /// The current directory, for a run that saves nothing.
    init() {
        url = URL(filePath: ".", directoryHint: .isDirectory)
        path = "."
    }

    /// Creates the directory and its parents, unless they exist.
    ///
    /// - Parameter option: The option that the directory was given with.
    init(path: String, option: String = "--output") throws(ProgramExit) {
        url = URL(literalPath: path, directoryHint: .isDirectory)
        self.path = path
        guard Self.create(url.path), access(url.path, W_OK | X_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            let problem = "cannot write to the directory \"\(path)\": \(reason)"
            throw ProgramExit(text: "\(problem); choose another one with \(option)")
        }
    }

    /// Splits the path of a file into its directory and its name. Nil for the path of a directory, which exists or ends with
    /// "/".
    static func split(_ path: String) -> (directory: String, name: String)? {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        guard !path.hasSuffix("/"), !exists || !isDirectory.boolValue else { return nil }
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[slash...].dropFirst()))
    }

    func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// Returns the path of a file as shown to the user, relative if the directory was given as a relative path.
    func shown(_ name: String) -> String { path == "." ? name : path.hasSuffix("/") ? path + name : "\(path)/\(name)" }

    /// Creates a directory and its parents; on failure, returns false with the reason in `errno`, which `FileManager`
    /// does not always report.
    private static func create(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            errno = ENOTDIR
            return isDirectory.boolValue
        }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard parent == path || create(parent) else { return false }
        // Another program may have created it meanwhile.
        return mkdir(path, 0o777) == 0 || errno == EEXIST
    }
}

extension URL {
    /// Creates the URL of a path in which "~" is a name like any other: the shell has replaced it where it is not.
    init(literalPath path: String, directoryHint: DirectoryHint = .inferFromPath) {
        self.init(filePath: path.hasPrefix("~") ? "./" + path : path, directoryHint: directoryHint)
    }
}
