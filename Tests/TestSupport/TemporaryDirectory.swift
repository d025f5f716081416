import DeferredCore
package import Foundation

/// A directory that is removed when its last reference is released, or when the process exits.
package final class TemporaryDirectory: Sendable {
    /// The directories that there are: the process of an exit test ends with clients, and so with directories, in use.
    private static let existing: Lock<Set<URL>> = {
        atexit {
            for url in TemporaryDirectory.existing.withLock({ $0 }) { try? FileManager.default.removeItem(at: url) }
        }
        return Lock([])
    }()

    package let url: URL

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "DeferredTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        _ = Self.existing.withLock { $0.insert(url) }
        self.url = url
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
        _ = Self.existing.withLock { $0.remove(url) }
    }

    /// The URL of the one file that most tests need. The file doesn't exist at first.
    package var file: URL { url.appending(path: "file") }

    /// Returns the names of the directory's contents, sorted.
    package func contents() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
    }

    /// Writes a file, and creates the directories that its path needs.
    @discardableResult
    package func write(_ text: String, to path: String) throws -> URL {
        let file = url.appending(path: path)
        let directory = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }
}
