import Foundation

/// Calls of the operating system that Foundation has no throwing, non-trapping form of.
///
/// `FileHandle` traps where swift-corelibs-foundation meets a full disk or a missing directory, and its download tasks
/// do so on our behalf; no issue is known upstream. Test: `PartialFileTests`, "A file that cannot be written fails with
/// its path".
enum POSIXFile {
    /// The length in bytes, or nil when `path` is not a regular file that this process can read.
    static func lengthOfReadableRegularFile(at path: String) -> Int64? {
        guard let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) else { return nil }
        defer { _ = close(descriptor) }
        return status(of: descriptor).flatMap { $0.st_mode & S_IFMT == S_IFREG ? Int64($0.st_size) : nil }
    }

    /// A file descriptor, or nil and the reason in `errno`. A file that this creates is its owner's only.
    static func openFile(_ path: String, _ flags: Int32) -> Int32? {
        let descriptor = open(path, flags, 0o600)
        return descriptor >= 0 ? descriptor : nil
    }

    /// Gives the file the permissions that this process's new files have.
    static func shareAsNewFile(_ descriptor: Int32) {
        _ = fchmod(descriptor, 0o666 & ~fileCreationMask)
    }

    /// Read once, and with the strictest mask in its place meanwhile, since it is the whole process's.
    private static let fileCreationMask: mode_t = {
        let mask = umask(0o077)
        _ = umask(mask)
        return mask
    }()

    /// Keeps other processes from the file, or tells that one of them has it. It isn't done where a process that is
    /// suspended while it holds a lock on a shared file gets killed:
    /// https://developer.apple.com/library/archive/technotes/tn2408.
    static func lockAgainstOtherProcesses(_ descriptor: Int32) -> Bool {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        true
        #else
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
        #endif
    }

    /// A descriptor of a new file in `folder` that no path leads to.
    static func openUnlinked(in folder: String) -> Result<Int32, POSIXError> {
        var template = Array((folder + "/deferred-XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0, unlink(template) == 0 else {
            return .failure(POSIXError(lastError))
        }
        return .success(descriptor)
    }

    /// Up to `count` bytes, at least one, or nil when there are none or they can't be read.
    static func read(_ count: Int, at offset: Int64, from descriptor: Int32) -> Data? {
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

    static func status(at path: String) -> stat? {
        var result = stat()
        return stat(path, &result) == 0 ? result : nil
    }

    /// The same for a path's last component itself, also if that is a symbolic link.
    static func statusWithoutFollowing(_ path: String) -> stat? {
        var result = stat()
        return lstat(path, &result) == 0 ? result : nil
    }

    /// All of a small regular file that is not behind a symbolic link, or nil.
    static func contents(at path: String, upTo limit: Int) -> Data? {
        guard let descriptor = openFile(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW) else { return nil }
        defer { _ = close(descriptor) }
        guard let status = status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else { return nil }
        return read(limit, at: 0, from: descriptor)
    }

    /// What `path` leads to, such as `S_IFDIR`, or nil and the reason in `errno` when that can't be told.
    static func kind(at path: String) -> mode_t? {
        status(at: path).map { $0.st_mode & S_IFMT }
    }

    /// Writes all of `bytes`, or returns the reason why it can't.
    ///
    /// - Parameter offset: nil for the place where the last write ended.
    static func writeAll(_ bytes: Data, at offset: Int64? = nil, to descriptor: Int32) -> POSIXErrorCode? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
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
    }

    static var lastError: POSIXErrorCode { POSIXErrorCode(rawValue: errno) ?? .EIO }
}
