import Foundation

extension PartialFile {
    /// Checks, before anything is sent, that the file could be moved to its destination in the end.
    static func check(_ destination: URL) throws(CocoaError) {
        guard destination.isFileURL else { throw FileFailure.notAFile(destination) }
        let path = destination.path
        switch POSIXFile.kind(at: path) {
        case S_IFREG?: break
        case S_IFDIR?: throw FileFailure.writing(path, .EISDIR)
        // Replacing a device, a pipe or a socket would remove it for everybody who uses it.
        case .some: throw FileFailure.notReplaceable(path)
        case nil where POSIXFile.lastError == .ENAMETOOLONG: throw FileFailure.writing(path)
        case nil: break
        }
        let folder = destination.deletingLastPathComponent().path
        guard let kind = POSIXFile.kind(at: folder) else { throw FileFailure.writing(path) }
        guard kind == S_IFDIR else { throw FileFailure.writing(path, .ENOTDIR) }
    }

    /// Returns the path, without suffix, of the files next to `destination`. A long name is shortened to leave room for
    /// the suffix.
    static func stem(of destination: URL) -> String {
        let name = destination.lastPathComponent
        guard name.utf8.count > longestName - longestSuffix else { return destination.path }
        // A hash distinguishes names that differ only in the part that is cut off: FNV-1a, which is the same in every
        // process.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var beginning = ""
        for character in name {
            guard beginning.utf8.count + character.utf8.count <= 200 else { break }
            beginning.append(character)
        }
        let cut = "\(beginning)~\(String(hash, radix: 36))"
        return destination.deletingLastPathComponent().appending(path: cut).path
    }

    private static let longestName = 255
    private static let longestSuffix = 22

    /// Opens or creates the file at `path` for this download alone. A file that somebody else made, as anybody can in a
    /// shared folder, is replaced by a new one.
    static func openShared(
        _ path: String,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(CocoaError) -> OpenFile {
        var creation = O_CREAT
        // Each time, another download or another user has just made, renamed or deleted the file.
        for _ in 0..<100 {
            // A symbolic link planted by somebody else could lead to any of our files.
            guard let descriptor = POSIXFile.openFile(path, O_RDWR | creation | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
                let file = OpenFile(descriptor, isOver: isOver)
            else {
                guard creation & O_EXCL != 0, errno == EEXIST else { throw FileFailure.writing(path) }
                creation = O_CREAT
                continue
            }
            guard file.lock() else {
                file.close()
                throw FileFailure.locked(path)
            }
            // Between open and lock, the other download may have renamed or deleted the file.
            if file.isAt(path) {
                // Some file systems have one owner for all files, also for a new one.
                if file.isOwn || creation & O_EXCL != 0 { return file }
                creation |= O_EXCL
                guard unlink(path) == 0 else {
                    let failure = FileFailure.writing(path)
                    file.close()
                    throw failure
                }
            }
            file.close()
        }
        throw FileFailure.writing(path, .EEXIST)
    }

    /// Creates a file with a unique name.
    static func createUnique(_ stem: String) throws(CocoaError) -> (path: String, file: OpenFile) {
        let path = "\(stem).\(String(UInt64.random(in: .min ... .max), radix: 36)).partial"
        guard let descriptor = POSIXFile.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC),
            let file = OpenFile(descriptor, isOver: { false })
        else { throw FileFailure.writing(path) }
        return (path, file)
    }

    static func readValidator(at path: String) -> ResumeValidator? {
        POSIXFile.contents(at: path, upTo: 1 << 16).flatMap(ResumeValidator.init(contents:))
    }
}
