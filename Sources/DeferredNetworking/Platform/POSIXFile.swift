package import Foundation

/// File system calls for which Foundation has no throwing, non-trapping form.
///
/// In swift-corelibs-foundation, `FileHandle` traps on a full disk or a missing directory, and so do download tasks,
/// which use it; no issue is known upstream. Test: `PartialFileTests`, "a file that cannot be written fails with its
/// path".
package enum POSIXFile {
    /// Returns the length in bytes, or nil if `path` is not a regular file that this process can read.
    package static func lengthOfReadableRegularFile(at path: String) -> Int64? {
        guard let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) else { return nil }
        defer { _ = close(descriptor) }
        return status(of: descriptor).flatMap { $0.st_mode & S_IFMT == S_IFREG ? Int64($0.st_size) : nil }
    }

    /// Returns a file descriptor, or nil with the reason in `errno`. Only the owner may access a file that this
    /// creates.
    static func openFile(_ path: String, _ flags: Int32) -> Int32? {
        let descriptor = open(path, flags, 0o600)
        return descriptor >= 0 ? descriptor : nil
    }

    /// Returns a handle that closes the file when it is released, or nil with the reason in `errno`. Child processes don't
    /// inherit it, unlike the files that `FileHandle` opens in swift-corelibs-foundation. Test: `InheritanceTests`.
    package static func handle(_ path: String, _ flags: Int32) -> FileHandle? {
        openFile(path, flags | O_CLOEXEC).map { FileHandle(fileDescriptor: $0, closeOnDealloc: true) }
    }

    /// Sets the permissions that new files of this process have by default.
    static func shareAsNewFile(_ descriptor: Int32) {
        _ = fchmod(descriptor, 0o666 & ~fileCreationMask)
    }

    /// Read once. The strictest mask is in effect meanwhile, because the mask is shared by the whole process.
    private static let fileCreationMask: mode_t = {
        let mask = umask(0o077)
        _ = umask(mask)
        return mask
    }()

    /// Locks the file against other processes, and returns false if one of them has locked it. Does nothing on
    /// platforms that kill a process for being suspended with a lock on a shared file:
    /// https://developer.apple.com/library/archive/technotes/tn2408.
    package static func lockAgainstOtherProcesses(_ descriptor: Int32) -> Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        true
        #else
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
        #endif
    }

    /// Undoes ``lockAgainstOtherProcesses(_:)``.
    package static func unlock(_ descriptor: Int32) {
        #if !(os(iOS) || os(tvOS) || os(watchOS) || os(visionOS))
        _ = flock(descriptor, LOCK_UN)
        #endif
    }

    /// Makes an empty file a clone of another one, which shares its blocks on disk until one of them is changed; returns
    /// false if the file system can't, or if they are not on the same one.
    ///
    /// Elsewhere than on Linux, only a new file can be a clone: https://www.manpagez.com/man/2/fclonefileat/.
    package static func clone(_ source: Int32, to destination: Int32) -> Bool {
        #if os(Linux)
        // FICLONE, a macro that Swift can't see: https://man7.org/linux/man-pages/man2/ioctl_ficlone.2.html.
        ioctl(destination, 0x4004_9409, source) == 0
        #else
        false
        #endif
    }

    /// Returns a descriptor of a new, unnamed file in `folder`, or nil with the reason in `errno`.
    ///
    /// Not by mkstemp(3), whose files a child process inherits.
    static func openUnlinked(in folder: String) -> Int32? {
        let path = "\(folder)/deferred-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        guard let descriptor = openFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC) else { return nil }
        _ = unlink(path)
        return descriptor
    }

    /// Returns up to `count` bytes, at least one, or nil if there are none or they can't be read.
    package static func read(_ count: Int, at offset: Int64, from descriptor: Int32) -> Data? {
        var bytes = Data(count: count)
        while true {
            let result = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            if result > 0 { return bytes.prefix(result) }
            guard result < 0, errno == EINTR else { return nil }
        }
    }

    static func status(of descriptor: Int32) -> stat? {
        var result = stat()
        return fstat(descriptor, &result) == 0 ? result : nil
    }

    /// Returns the status of `path` without following a symbolic link in its last component.
    static func statusWithoutFollowing(_ path: String) -> stat? {
        var result = stat()
        return lstat(path, &result) == 0 ? result : nil
    }

    /// Returns the contents of a small regular file of this process's user that is not behind a link, or nil.
    static func contents(at path: String, upTo limit: Int) -> Data? {
        guard let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) else { return nil }
        defer { _ = close(descriptor) }
        guard let status = status(of: descriptor), status.st_mode & S_IFMT == S_IFREG, status.isOwn else { return nil }
        return read(limit, at: 0, from: descriptor)
    }

    /// Returns the file type at `path`, such as `S_IFDIR`, or nil with the reason in `errno`.
    static func kind(at path: String) -> mode_t? {
        var result = stat()
        return stat(path, &result) == 0 ? result.st_mode & S_IFMT : nil
    }

    /// Writes all of `bytes`, or returns the reason why it can't.
    ///
    /// - Parameter offset: the offset in the file, or nil to continue at the current position.
    static func writeAll(_ bytes: Data, at offset: Int64? = nil, to descriptor: Int32) -> POSIXErrorCode? {
        bytes.withUnsafeBytes { writeAll($0, at: offset, to: descriptor) }
    }

    package static func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        at offset: Int64? = nil,
        to descriptor: Int32
    ) -> POSIXErrorCode? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
            let count =
                if let offset {
                    pwrite(descriptor, start, rest.count, off_t(offset + Int64(rest.startIndex)))
                } else {
                    write(descriptor, start, rest.count)
                }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR {
                return lastError
            }
        }
        return nil
    }

    /// Writes the bytes of a file to the disk, or returns the reason why it can't. Some file systems have no such call.
    static func flush(_ descriptor: Int32) -> POSIXErrorCode? {
        while fsync(descriptor) != 0 {
            if [EINVAL, ENOTSUP].contains(errno) { return nil }
            if errno != EINTR { return lastError }
        }
        return nil
    }

    /// Has the system write these bytes of a file to the disk, without waiting for it.
    ///
    /// By the advice that they won't be read again, which drops only those that are on the disk already. With 512 MiB,
    /// in pieces of 8 MiB, ``flush(_:)`` then takes 8 ms instead of 220, and writing and flushing 230 ms instead of 390.
    /// Elsewhere than on Linux, there is no such call.
    static func startFlushing(_ bytes: Range<Int64>, of descriptor: Int32) {
        #if os(Linux)
        _ = posix_fadvise(descriptor, off_t(bytes.lowerBound), off_t(bytes.count), POSIX_FADV_DONTNEED)
        #endif
    }

    static var lastError: POSIXErrorCode { POSIXErrorCode(rawValue: errno) ?? .EIO }
}

// MARK: Small files that processes share

extension POSIXFile {
    /// Returns the bytes of a small file, or nil if there is none.
    package static func wholeFile(at path: String) throws -> Data? {
        guard let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) else {
            if lastError == .ENOENT { return nil }
            throw FileFailure.reading(path)
        }
        defer { _ = close(descriptor) }
        guard let count = status(of: descriptor)?.st_size,
            let bytes = count == 0 ? Data() : read(Int(count), at: 0, from: descriptor)
        else { throw FileFailure.reading(path) }
        return bytes
    }

    /// Replaces a file as a whole, or removes it. Only the owner may access it.
    package static func replaceFile(at path: String, with bytes: Data?) throws {
        guard let bytes else {
            guard unlink(path) == 0 || lastError == .ENOENT else { throw FileFailure.writing(path) }
            return
        }
        let new = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36))"
        guard let descriptor = openFile(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC) else {
            throw FileFailure.writing(path)
        }
        // To the disk before it takes the place of the old one: a computer that loses its power must not be left with
        // neither.
        var failure = writeAll(bytes, to: descriptor) ?? flush(descriptor)
        _ = close(descriptor)
        if failure == nil, rename(new, path) != 0 { failure = lastError }
        guard let failure else { return synchronize(folderOf: path) }
        _ = unlink(new)
        throw FileFailure.writing(path, failure)
    }

    /// Writes the names in a folder to the disk, so that a file that was replaced doesn't come back after a loss of power. Where
    /// the file system can't, it does so in its own time.
    private static func synchronize(folderOf path: String) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard let descriptor = openFile(folder, O_RDONLY | O_CLOEXEC) else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
    }

    /// Opens a file to be locked, and makes it if there is none.
    package static func makeLock(at path: String) throws -> FileHandle {
        guard let file = handle(path, O_RDWR | O_CREAT | O_NOFOLLOW) else { throw FileFailure.writing(path) }
        return file
    }

    /// Returns true if an open file still has its name.
    package static func isSame(_ file: FileHandle, at path: String) throws -> Bool {
        guard let opened = status(of: file.fileDescriptor) else { throw FileFailure.writing(path) }
        return statusWithoutFollowing(path).map(FileIdentity.init) == FileIdentity(opened)
    }

    /// Locks a file, or returns false if somebody else has, in this process or another.
    package static func tryLock(_ file: FileHandle, at path: String) throws -> Bool {
        if lockAgainstOtherProcesses(file.fileDescriptor) { return true }
        guard [.EWOULDBLOCK, .EINTR].contains(lastError) else { throw FileFailure.writing(path) }
        return false
    }
}

/// Tells files apart, whatever their names.
struct FileIdentity: Hashable {
    private let device: dev_t
    private let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}

extension stat {
    /// True if the file is this process's user's, under one name.
    ///
    /// Whoever else made it could still change it, or may have made it a second name of a file that must stay.
    var isOwn: Bool { st_uid == geteuid() && st_nlink <= 1 }

    package var modificationTime: timespec {
        #if canImport(Darwin)
        st_mtimespec
        #else
        st_mtim
        #endif
    }
}
