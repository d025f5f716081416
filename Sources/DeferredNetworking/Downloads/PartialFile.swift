import Foundation

/// A file that is being written beside its destination, and takes the destination's name when it is complete.
///
/// It is its owner's only until then, and locked for as long as it is open, so that two downloads to one destination can't mix their bytes.
struct PartialFile {
    let destination: String
    let path: String

    /// Whether what has been written outlives a failure, for a later download to resume.
    let isResumable: Bool

    /// What the bytes in the file belong to. Without one they can't be resumed.
    private(set) var validator: ResumeValidator?

    private(set) var length: Int64
    private var file: OpenFile?

    /// Creates `<destination>.<random>.partial`, or opens `<destination>.partial` when `isResumable`.
    ///
    /// - Parameter url: what is downloaded. Bytes of anything else that are there are not used.
    init(destination: URL, of url: URL, isResumable: Bool) throws(CocoaError) {
        try Self.check(destination)
        self.destination = destination.path
        self.isResumable = isResumable
        if isResumable {
            path = Self.stem(of: destination) + ".partial"
            let opened = try Self.openShared(path)
            file = opened
            length = opened.length ?? 0
            validator = Self.readValidator(at: path + ".validator").flatMap { $0.url == url ? $0 : nil }
        } else {
            let opened = try Self.createUnique(Self.stem(of: destination))
            (path, file) = opened
            length = 0
        }
    }

    private var validatorPath: String { path + ".validator" }

    /// Whether a request for the rest makes sense.
    var canResume: Bool { validator != nil && length > 0 }

    /// Starts again with an empty file, whose bytes will belong to `validator`.
    mutating func restart(validator newValidator: ResumeValidator?) throws(CocoaError) {
        // The old validator goes first: it must never stand beside bytes that aren't its own.
        _ = unlink(validatorPath)
        validator = nil
        guard let file, ftruncate(file.descriptor, 0) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0 else {
            throw FileFailure.writing(path)
        }
        length = 0
        if isResumable, let newValidator {
            try write(newValidator)
        }
    }

    /// Goes on after the last byte that is there.
    func resume() throws(CocoaError) {
        guard let file, lseek(file.descriptor, 0, SEEK_END) == length else { throw FileFailure.writing(path) }
    }

    mutating func append(_ bytes: Data) throws(CocoaError) {
        guard let file else { throw FileFailure.writing(path, .EBADF) }
        if let code = POSIXFile.writeAll(bytes, to: file.descriptor) {
            throw FileFailure.writing(path, code)
        }
        length += Int64(bytes.count)
    }

    /// Gives the file its destination's name, replacing what was there.
    mutating func complete() throws(CocoaError) {
        guard let file, file.length == length, file.isAt(path) else { throw FileFailure.writing(path, .EIO) }
        POSIXFile.shareAsNewFile(file.descriptor)
        // The validator goes first: once the name is free, another download may put its own there.
        _ = unlink(validatorPath)
        guard rename(path, destination) == 0 else {
            let failure = FileFailure.writing(destination)
            if let validator {
                try write(validator)
            }
            throw failure
        }
        closeFile()
    }

    /// Lets go of an incomplete file: what can be resumed stays, all else is deleted.
    mutating func abandon() {
        guard let file else { return }
        // What has taken the name meanwhile is not ours to delete.
        if !(isResumable && canResume), file.isAt(path) {
            _ = unlink(validatorPath)
            _ = unlink(path)
        }
        closeFile()
    }

    private mutating func closeFile() {
        file.take()?.close()
    }

    private mutating func write(_ newValidator: ResumeValidator) throws(CocoaError) {
        // A new one: what a link leads to isn't touched.
        _ = unlink(validatorPath)
        guard let file = POSIXFile.openFile(validatorPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC) else {
            throw FileFailure.writing(validatorPath)
        }
        defer { _ = close(file) }
        if let code = POSIXFile.writeAll(newValidator.contents, to: file) {
            throw FileFailure.writing(validatorPath, code)
        }
        validator = newValidator
    }
}
