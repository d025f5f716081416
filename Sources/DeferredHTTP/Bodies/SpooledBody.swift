internal import DeferredTask
internal import Foundation

/// Gathers a streamed body in a temporary file before it is sent.
enum SpooledBody {
    /// Writes a body into a new file.
    ///
    /// - Returns: A task with the file's URL; the caller has to remove the file. Cancelling the task removes it.
    static func write(_ bytes: HTTPBodyStream, length: Int64?) -> Task<URL> {
        Task<URL> {
            let file = FileManager.default.temporaryDirectory.appending(path: "deferred-body-\(UUID().uuidString)")
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: attributes) else {
                throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file.path])
            }
            do {
                let handle = try FileHandle(forWritingTo: file)
                defer { try? handle.close() }
                var count: Int64 = 0
                for try await piece in bytes {
                    try handle.write(contentsOf: piece)
                    count += Int64(piece.count)
                }
                try _Concurrency.Task.checkCancellation()
                if let length, length != count { throw WrongLength(announced: length, actual: count) }
            } catch {
                remove(file)
                throw error
            }
            return file
        }
    }

    static func remove(_ file: URL) {
        try? FileManager.default.removeItem(at: file)
    }

    /// The underlying error of a request whose body has another length than was declared.
    struct WrongLength: Error, CustomStringConvertible {
        let announced: Int64
        let actual: Int64

        var description: String { "the body has \(actual) bytes, but its announced length is \(announced)" }
    }
}
