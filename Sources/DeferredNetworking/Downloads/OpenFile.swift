internal import DeferredCore
import Foundation

/// A regular file that is open for one download of this process.
struct OpenFile {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    /// Those that a download of this process writes. A lock of the system's keeps out other processes only where those exist.
    private static let locked = Lock<Set<Identity>>([])

    let descriptor: Int32
    private let identity: Identity

    /// Takes over a descriptor; it is closed when it isn't one of a regular file, with the reason in `errno`.
    init?(_ descriptor: Int32) {
        guard let status = POSIXFile.status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else {
            _ = Foundation.close(descriptor)
            errno = EINVAL
            return nil
        }
        self.descriptor = descriptor
        identity = Identity(status)
    }

    var length: Int64? { POSIXFile.status(of: descriptor).map { Int64($0.st_size) } }

    /// Whether this is the file that a path names.
    func isAt(_ path: String) -> Bool {
        POSIXFile.statusWithoutFollowing(path).map(Identity.init) == identity
    }

    /// Whether nobody else had the file. Then nobody gets it until it is closed.
    func lock() -> Bool {
        guard Self.locked.withLock({ $0.insert(identity).inserted }) else { return false }
        guard POSIXFile.lockAgainstOtherProcesses(descriptor) else {
            Self.locked.withLock { _ = $0.remove(identity) }
            return false
        }
        return true
    }

    /// Closes a file that ``lock()`` has not been given for.
    func closeUnlocked() {
        _ = Foundation.close(descriptor)
    }

    func close() {
        Self.locked.withLock { _ = $0.remove(identity) }
        _ = Foundation.close(descriptor)
    }
}
