import Foundation

extension PartialFile {
    /// Finds what would stop the file from getting its name in the end, before anything is sent.
    static func check(_ destination: URL) throws(CocoaError) {
        guard destination.isFileURL else { throw FileFailure.notAFile(destination) }
        let path = destination.path
        switch POSIXFile.kind(at: path) {
        case S_IFREG?: break
        case S_IFDIR?: throw FileFailure.writing(path, .EISDIR)
        // What the name stands for would be gone, for everybody who uses it.
        case .some: throw FileFailure.notReplaceable(path)
        case nil where POSIXFile.lastError == .ENAMETOOLONG: throw FileFailure.writing(path)
        case nil: break
        }
        let folder = destination.deletingLastPathComponent().path
        guard let kind = POSIXFile.kind(at: folder) else { throw FileFailure.writing(path) }
        guard kind == S_IFDIR else { throw FileFailure.writing(path, .ENOTDIR) }
    }

    /// The path for what is made beside `destination`, before its suffix: a long name is cut so that there is room for
    /// that.
    static func stem(of destination: URL) -> String {
        let name = destination.lastPathComponent
        guard name.utf8.count > longestName - longestSuffix else { return destination.path }
        // Names that only differ in the part that is cut off stay apart: FNV-1a, the same in each run of a program.
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

    /// Opens or creates the file at `path` for this download alone.
    static func openShared(_ path: String) throws(CocoaError) -> OpenFile {
        while true {
            // Somebody else's link could lead to any file of ours.
            guard let descriptor = POSIXFile.openFile(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
                let file = OpenFile(descriptor)
            else { throw FileFailure.writing(path) }
            guard file.lock() else {
                file.closeUnlocked()
                throw FileFailure.locked(path)
            }
            // Between open and lock, the other download may have renamed or deleted the file.
            if file.isAt(path) {
                return file
            }
            file.close()
        }
    }

    /// Creates a file under a name that nobody else uses.
    static func createUnique(_ stem: String) throws(CocoaError) -> (path: String, file: OpenFile) {
        while true {
            let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
            let path = "\(stem).\(suffix).partial"
            if let descriptor = POSIXFile.openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC),
                let file = OpenFile(descriptor)
            {
                return (path, file)
            }
            guard POSIXFile.lastError == .EEXIST else { throw FileFailure.writing(path) }
        }
    }

    static func readValidator(at path: String) -> ResumeValidator? {
        POSIXFile.contents(at: path, upTo: 1 << 16).flatMap(ResumeValidator.init(contents:))
    }
}
