internal import DeferredCore
import Foundation

/// A regular file that one download of this process has open.
struct OpenFile {
    private struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init(_ status: stat) {
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    /// The files that downloads of this process are writing. The system's locks may only exclude other processes.
    private static let locked = Lock<Set<Identity>>([])

    let descriptor: Int32
    private let identity: Identity

    /// Takes over a descriptor. If it isn't that of a regular file, closes it and sets `errno`.
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

    /// Returns true if `path` names this file.
    func isAt(_ path: String) -> Bool {
        POSIXFile.statusWithoutFollowing(path).map(Identity.init) == identity
    }

    /// Locks the file until it is closed, and returns true, or returns false if another download has it.
    func lock() -> Bool {
        guard Self.locked.withLock({ $0.insert(identity).inserted }) else { return false }
        guard POSIXFile.lockAgainstOtherProcesses(descriptor) else {
            Self.locked.withLock { _ = $0.remove(identity) }
            return false
        }
        return true
    }

    /// Closes a file that isn't locked.
    func closeUnlocked() {
        _ = Foundation.close(descriptor)
    }

    /// Unlocks and closes the file.
    ///
    /// Closing alone leaves it locked while a child process that was just forked still has the descriptor. It is unlocked
    /// before it leaves the set, so that the next download of this process doesn't meet its lock.
    func close() {
        POSIXFile.unlock(descriptor)
        Self.locked.withLock { _ = $0.remove(identity) }
        _ = Foundation.close(descriptor)
    }
}
