import Foundation

/// A file that is written next to its destination, and renamed to it when complete.
///
/// Only its owner may access it until then. It is locked while it is open, so that two downloads to one destination
/// can't mix their bytes; one that has ended, but whose file is still open, gives it up to the next one.
struct PartialFile {
    let destination: String
    let path: String

    /// True if a part of the file is kept after a failure, for a later download to resume.
    let isResumable: Bool

    /// The validator of the bytes in the file. Without one they can't be resumed.
    private(set) var validator: ResumeValidator?

    private(set) var length: Int64

    /// The number of bytes that the system has begun to write to the disk.
    private var flushedLength: Int64 = 0
    private var file: OpenFile?

    /// True if nobody else has put anything in the file. A part of another URL's stays there until bytes come.
    private var isOurs: Bool

    /// Creates `<destination>.<random>.partial`, or opens `<destination>.partial` when `isResumable`.
    ///
    /// - Parameters:
    ///   - url: the URL that is downloaded. Existing bytes from another URL are not used.
    ///   - isOver: returns true once the download has ended, and another one may take the file.
    init(
        destination: URL,
        of url: URL,
        isResumable: Bool,
        isOver: @escaping @Sendable () -> Bool = { false }
    ) throws(CocoaError) {
        try Self.check(destination)
        self.destination = destination.path
        self.isResumable = isResumable
        if isResumable {
            path = Self.stem(of: destination) + ".partial"
            let opened = try Self.openShared(path, isOver: isOver)
            file = opened
            length = opened.length ?? 0
            isOurs = length == 0
            validator = Self.readValidator(at: path + ".validator").flatMap { $0.url == url ? $0 : nil }
        } else {
            let opened = try Self.createUnique(Self.stem(of: destination))
            (path, file) = opened
            length = 0
            isOurs = true
        }
    }

    /// The number of bytes that the system writes to the disk at once.
    private static let flushedSize: Int64 = 8 << 20

    private var validatorPath: String { path + ".validator" }

    /// True if the rest of the file can be requested.
    var canResume: Bool { validator != nil && length > 0 }

    /// Empties the file for bytes that belong to `validator`.
    mutating func restart(validator newValidator: ResumeValidator?) throws(CocoaError) {
        try Self.change(file, at: path) { (file) throws(CocoaError) in
            // The validator there may be that of another download's file, which has taken the name meanwhile.
            guard file.isAt(path) else { throw FileFailure.writing(path, .EIO) }
            // The old validator is deleted first: it must never exist together with bytes of another file.
            _ = unlink(validatorPath)
            (validator, isOurs) = (nil, true)
            guard ftruncate(file.descriptor, 0) == 0, lseek(file.descriptor, 0, SEEK_SET) == 0 else {
                throw FileFailure.writing(path)
            }
            length = 0
            flushedLength = 0
            if isResumable, let newValidator {
                try write(newValidator)
            }
        }
    }

    /// Continues after the last existing byte.
    func resume() throws(CocoaError) {
        guard let file else { throw FileFailure.writing(path, .EBADF) }
        let end = lseek(file.descriptor, 0, SEEK_END)
        guard end == length else { throw end < 0 ? FileFailure.writing(path) : FileFailure.writing(path, .EIO) }
    }

    mutating func append(_ bytes: Data) throws(CocoaError) {
        try Self.change(file, at: path) { (file) throws(CocoaError) in
            if let code = POSIXFile.writeAll(bytes, to: file.descriptor) {
                throw FileFailure.writing(path, code)
            }
            length += Int64(bytes.count)
            // So that little is left to flush in the end, while the engine waits.
            if length - flushedLength >= Self.flushedSize {
                POSIXFile.startFlushing(flushedLength..<length, of: file.descriptor)
                flushedLength = length
            }
        }
    }

    /// Renames the file to its destination, replacing an existing file.
    mutating func complete() throws(CocoaError) {
        // A computer that loses its power may keep the new name and not the bytes, which would look like a whole file. Takes
        // 0.6 ms for a small one. Not below the lock, for which the next download may wait.
        let flaw = file.flatMap { POSIXFile.flush($0.descriptor) }
        try Self.change(file, at: path) { (file) throws(CocoaError) in
            if let flaw {
                // Nobody knows which bytes are on the disk, so that no download may go on with them.
                _ = ftruncate(file.descriptor, 0)
                throw FileFailure.writing(path, flaw)
            }
            guard file.length == length, file.isAt(path) else { throw FileFailure.writing(path, .EIO) }
            POSIXFile.shareAsNewFile(file.descriptor)
            // The validator is deleted first: once the name is free, another download may put its own there.
            _ = unlink(validatorPath)
            guard rename(path, destination) == 0 else {
                let failure = FileFailure.writing(destination)
                _ = fchmod(file.descriptor, 0o600)
                // Without its validator the file can't be resumed, but this failure matters more than that one.
                if let validator { try? write(validator) }
                throw failure
            }
        }
        file.take()?.close()
    }

    /// Closes an incomplete file. It is kept if it can be resumed, and otherwise deleted.
    mutating func abandon() {
        try? Self.change(file, at: path) { file in
            // A file that has taken the name meanwhile belongs to somebody else.
            if isOurs, !canResume, file.isAt(path) {
                _ = unlink(validatorPath)
                _ = unlink(path)
            }
        }
        file.take()?.close()
    }

    /// Changes a file, which belongs to this download alone meanwhile.
    private static func change(
        _ file: OpenFile?,
        at path: String,
        _ body: (OpenFile) throws(CocoaError) -> Void
    ) throws(CocoaError) {
        guard let file, try file.change({ () throws(CocoaError) in try body(file) }) else {
            throw FileFailure.writing(path, .EBADF)
        }
    }

    private mutating func write(_ newValidator: ResumeValidator) throws(CocoaError) {
        // Always a new file, so that a symbolic link isn't followed.
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
