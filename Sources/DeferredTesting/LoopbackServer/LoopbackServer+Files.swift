public import Foundation

extension LoopbackServer {
    /// Starts a server that serves the files below a directory.
    ///
    /// Answers GET and HEAD as ``Script/file(_:for:)`` does. The request's path, percent-decoded, names the file. Paths
    /// that lead out of the directory, by `..` or by a symbolic link, get status 404, and so do directories.
    ///
    /// - Parameters:
    ///   - directory: The directory. It need not exist yet; files are looked up for each request.
    ///   - port: The port to listen on; 0 selects any free one.
    /// - Throws: ``StartError`` when the port is taken or not allowed, or when the system is out of resources.
    public convenience init(servingFilesAt directory: URL, port: UInt16 = 0) throws(StartError) {
        try self.init(port: port) { request in
            guard let file = Self.file(at: request.path, in: directory) else { return .status(404) }
            return .file(file, for: request)
        }
    }

    /// Returns the file that a decoded path names; `nil` when it is not inside the directory.
    private static func file(at path: String, in directory: URL) -> URL? {
        let components = path.split(separator: "/")
        guard !components.contains(".."), !path.utf8.contains(0) else { return nil }
        let file = components.reduce(directory) { $0.appendingPathComponent(String($1)) }.resolvingSymlinksInPath()
        let root = directory.resolvingSymlinksInPath().pathComponents
        return file.pathComponents.starts(with: root) ? file : nil
    }
}
