internal import DeferredCore
internal import DeferredNetworking
internal import Foundation

/// The folder of a cache on disk, and all calls of the file system that it takes.
///
/// Only the owner may access the folder and its files. No symbolic link is followed, and a folder of another user is
/// refused: who may write in it could plant responses.
final class CacheFolder: Sendable {
    /// A call that changes the folder, or reads from it.
    enum Call: Sendable {
        case open, create, read, write, rename, link, unlink, touch, list
    }

    private let path: String
    private let health: HealthMonitor
    let opened: Lock<Opened>
    /// By their positions.
    let ownMarks = Lock<[off_t: OwnMark]>([:])
    /// The unit in which the file system gives space to files.
    let blockSize: Int64

    struct Opened: Sendable {
        /// `nil` for a folder that can't be used.
        var directory: File?
        /// Random bytes, which the first process that uses the folder makes.
        var salt: [UInt8] = []
        /// The file with the marks, which the lock on heads is on, too.
        var marks: File?
        /// True if that lock could not be had: its holder was stopped, or the file system has no locks.
        var isHolderStopped = false
    }

    /// True if nothing was in the folder when it was opened.
    var isNew: Bool { opened.withLock { $0.directory?.isNew == true } }

    /// Asked before each call whether it may be made, so that a test can stop a process anywhere. In an array, since a
    /// lock's whole value is no closure, and neither is a property that is read often.
    private let gate: [@Sendable (Call) -> Bool]

    /// Opens the folder, and creates it if need be. If that fails, it is tried again whenever a file is to be created.
    init(_ path: String, health: HealthMonitor = HealthMonitor(), gate: (@Sendable (Call) -> Bool)? = nil) {
        self.path = path
        self.health = health
        self.gate = gate.map { [$0] } ?? []
        opened = Lock(Opened(directory: Self.openFolder(path, health)))
        var system = statvfs()
        blockSize = statvfs(path, &system) == 0 ? Int64(min(max(system.f_frsize, 512), 1 << 16)) : 4_096
    }

    /// - Returns: `nil` if the folder can't be opened, or belongs to another user.
    private static func openFolder(_ path: String, _ health: HealthMonitor) -> File? {
        let isNew = mkdir(path, 0o700) == 0
        if !isNew, errno == ENOENT {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
            try? FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: attributes
            )
        }
        let descriptor = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            health.failed("open \(path): \(String(cString: strerror(errno)))")
            return nil
        }
        let directory = File(descriptor, isNew: isNew)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0 || fchmod(descriptor, 0o700) == 0
        else {
            health.failed("open \(path): the folder belongs to another user")
            return nil
        }
        return directory
    }

    /// Calls `body` with the descriptor of the folder, which is no valid one if the folder can't be used.
    func at<Result>(_ body: (Int32) -> Result) -> Result {
        let directory = opened.withLock { $0.directory }
        return withExtendedLifetime(directory) { body(directory?.descriptor ?? -1) }
    }

    /// Opens the folder once more, and makes it again if it was removed.
    func reopen() -> Bool {
        guard let directory = Self.openFolder(path, health) else { return false }
        let old = opened.withLock { opened in
            defer { (opened.directory, opened.marks) = (directory, nil) }
            return opened.directory
        }
        withExtendedLifetime(old) {}
        shareSalt()
        return true
    }

    func failed(_ call: Call, _ name: String) {
        let reason = String(cString: strerror(errno))
        health.failed("\(call) \(path)/\(name): \(reason)")
    }

    func lacksRoom() { health.failed("create \(path)/: no room within the capacity") }

    // MARK: Files

    private func may(_ call: Call) -> Bool { gate.allSatisfy { $0(call) } }

    /// An open file, or the open folder, which is closed with this object.
    final class File: Sendable {
        let descriptor: Int32
        /// True for a folder that was made when it was opened, so that nothing is in it.
        let isNew: Bool

        init(_ descriptor: Int32, isNew: Bool = false) { (self.descriptor, self.isNew) = (descriptor, isNew) }
        deinit { _ = close(descriptor) }

        /// False if the file was removed while it was open.
        var isThere: Bool {
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_nlink > 0
        }
    }

    /// Opens a file, and follows no symbolic link.
    func open(_ name: String, _ flags: Int32) -> File? {
        let file = at { openat($0, name, flags | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        return file >= 0 ? File(file) : nil
    }

    /// Opens a regular file of this user.
    func openFile(_ name: String) -> File? {
        guard may(.open) else {
            errno = EMFILE
            return nil
        }
        return open(name, O_RDONLY | O_NONBLOCK)
    }

    /// Creates a file; fails if there is one with the name.
    func createFile(_ name: String) -> File? {
        if may(.create) {
            let flags = O_RDWR | O_CREAT | O_EXCL
            if let file = open(name, flags) { return file }
            // In an open folder, that means that it was removed.
            if errno == ENOENT || errno == EBADF {
                guard reopen() else { return nil }
                if let file = open(name, flags) { return file }
            }
        }
        failed(.create, name)
        return nil
    }

    /// Appends bytes; returns false if not all of them could be written.
    func append(_ bytes: UnsafeRawBufferPointer, to file: File) -> Bool {
        if may(.write) {
            if POSIXFile.writeAll(bytes, to: file.descriptor) == nil { return true }
        } else {
            // A process that is killed may have written some of the bytes.
            _ = write(file.descriptor, bytes.baseAddress, bytes.count / 2)
        }
        failed(.write, "")
        return false
    }

    /// Returns some of the bytes of a file; `nil` if the file has fewer.
    func read(_ range: Range<Int64>, of file: File) -> Data? {
        guard may(.read) else { return nil }
        var bytes = Data()
        while bytes.count < range.count {
            let (count, start) = (range.count - bytes.count, range.lowerBound + Int64(bytes.count))
            guard let more = POSIXFile.read(count, at: start, from: file.descriptor) else { return nil }
            // Nearly always, these are all.
            bytes = bytes.isEmpty ? more : bytes + more
        }
        return bytes
    }

    /// Returns all bytes of a small file.
    func contents(of file: File, upTo limit: Int) -> Data? {
        guard let size = status(of: file)?.size, size <= Int64(limit) else { return nil }
        return read(0..<size, of: file)
    }

    func renameFile(_ old: String, to new: String) -> Bool {
        if may(.rename), at({ renameat($0, old, $0, new) }) == 0 {
            health.stored()
            return true
        }
        failed(.rename, new)
        return false
    }

    /// Gives a file a second name, unless there is a file with that name.
    func linkFile(_ old: String, to new: String) -> Bool {
        may(.link) && at { linkat($0, old, $0, new, 0) } == 0
    }

    /// Removes a file; returns false if it is still there.
    @discardableResult
    func removeFile(_ name: String) -> Bool { unlinkFile(name) || errno == ENOENT }

    /// Removes a file; returns false if it was not there, or still is.
    func unlinkFile(_ name: String) -> Bool {
        guard may(.unlink) else {
            errno = EPERM
            return false
        }
        return at { unlinkat($0, name, 0) } == 0
    }

    /// The clock by which the times of files are written, in milliseconds since 1970.
    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    /// Notes that a file was used.
    func touch(_ file: File) {
        if may(.touch) { _ = futimens(file.descriptor, nil) }
    }

    /// The part of a file's status that matters here.
    struct Status: Sendable {
        /// The bytes that are allocated.
        let allocated: Int64
        let identity: Identity

        var size: Int64 { identity.size }

        /// The time of the last change, in milliseconds since 1970.
        var changed: Int64 { identity.changed / 1_000_000 }

        /// Distinguishes files that have had a name, one after the other.
        struct Identity: Sendable, Equatable {
            let number: UInt64
            let size: Int64
            /// In nanoseconds since 1970.
            let changed: Int64
        }

        fileprivate init?(_ status: stat) {
            guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { return nil }
            allocated = Int64(status.st_blocks) * 512
            let time = status.modificationTime
            identity = Identity(
                number: UInt64(status.st_ino),
                size: Int64(status.st_size),
                // A file may have any time; in 64 bits, there is one up to the year 2262.
                changed: min(max(Int64(time.tv_sec), -9_000_000_000), 9_000_000_000) * 1_000_000_000
                    + Int64(time.tv_nsec)
            )
        }
    }

    func status(of file: File) -> Status? {
        var result = stat()
        return fstat(file.descriptor, &result) == 0 ? Status(result) : nil
    }

    func status(of name: String) -> Status? {
        var result = stat()
        return at { fstatat($0, name, &result, AT_SYMLINK_NOFOLLOW) } == 0 ? Status(result) : nil
    }

    /// Calls `body` with the name of each file, and with those of the folder and the one that it is in, `.` and `..`.
    ///
    /// - Returns: false if these were not all.
    @discardableResult
    func forEachName(_ body: (String) -> Void) -> Bool {
        // The stream takes over its descriptor, and has its own position in the folder.
        let copy = may(.list) ? at { openat($0, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) } : -1
        guard copy >= 0 else { return false }
        guard let directory = fdopendir(copy) else {
            _ = close(copy)
            return false
        }
        defer { _ = closedir(directory) }
        while true {
            // Only that distinguishes the end from an error.
            errno = 0
            guard let entry = readdir(directory) else { return errno == 0 }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            body(name)
        }
    }
}
