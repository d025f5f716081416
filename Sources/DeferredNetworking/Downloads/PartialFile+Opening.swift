import Foundation

extension PartialFile {
    /// Finds what would stop the file from getting its name in the end, before anything is sent.
    static func check(_ destination: URL) throws(CocoaError) {
        guard destination.isFileURL else { throw FileFailure.notAFile(destination) }
        let path = destination.path
        guard POSIXFile.isDirectory(path) != true else { throw FileFailure.writing(path, .EISDIR) }
        let folder = destination.deletingLastPathComponent().path
        guard let isFolder = POSIXFile.isDirectory(folder) else { throw FileFailure.writing(path) }
        guard isFolder else { throw FileFailure.writing(path, .ENOTDIR) }
    }

    /// Opens or creates the file at `path` and locks it.
    static func openShared(_ path: String) throws(CocoaError) -> Int32 {
        while true {
            guard let descriptor = POSIXFile.openFile(path, O_RDWR | O_CREAT | O_CLOEXEC) else {
                throw FileFailure.writing(path)
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = POSIXFile.lastError
                _ = close(descriptor)
                throw code == .EWOULDBLOCK ? FileFailure.locked(path) : FileFailure.writing(path, code)
            }
            // Between open and lock, the other download may have renamed or deleted the file.
            if let locked = POSIXFile.status(of: descriptor), let named = POSIXFile.status(at: path),
                locked.st_dev == named.st_dev, locked.st_ino == named.st_ino
            {
                return descriptor
            }
            _ = close(descriptor)
        }
    }

    /// Creates a file under a name that nobody else uses.
    static func createUnique(beside destination: String) throws(CocoaError) -> (path: String, descriptor: Int32) {
        while true {
            let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = "\(destination).\(suffix).partial"
            if let descriptor = POSIXFile.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC) {
                return (path, descriptor)
            }
            guard POSIXFile.lastError == .EEXIST else { throw FileFailure.writing(path) }
        }
    }

    static func readValidator(at path: String) -> ResumeValidator? {
        FileManager.default.contents(atPath: path).flatMap(ResumeValidator.init(contents:))
    }
}
