internal import DeferredCore
import Foundation

/// A regular file that one download of this process has open.
final class OpenFile: Sendable {
    /// The files that downloads of this process are writing. The system's locks may only exclude other processes.
    private static let locked = Lock<[FileIdentity: OpenFile]>([:])

    let descriptor: Int32

    /// True if the file was this user's alone when it was opened.
    let isOwn: Bool
    private let identity: FileIdentity

    /// Returns true once the download has ended.
    private let isOver: @Sendable () -> Bool

    /// False once another download has the file.
    private let isOwner = Lock(true)

    /// Takes over a descriptor. If it isn't that of a regular file, closes it and sets `errno`.
    init?(_ descriptor: Int32, isOver: @escaping @Sendable () -> Bool) {
        guard let status = POSIXFile.status(of: descriptor), status.st_mode & S_IFMT == S_IFREG else {
            _ = Foundation.close(descriptor)
            errno = EINVAL
            return nil
        }
        self.descriptor = descriptor
        self.isOver = isOver
        isOwn = status.isOwn
        identity = FileIdentity(status)
    }

    var length: Int64? { POSIXFile.status(of: descriptor).map { Int64($0.st_size) } }

    /// Returns true if `path` names this file.
    func isAt(_ path: String) -> Bool {
        POSIXFile.statusWithoutFollowing(path).map(FileIdentity.init) == identity
    }

    /// Locks the file until it is closed, and returns true, or returns false if another download has it.
    ///
    /// A download that was cancelled has ended for its caller while the engine's thread may still write its last bytes. The
    /// next one doesn't wait for more than these, and takes the file.
    func lock() -> Bool {
        while let owner = enterTable() {
            guard owner.isOver() else { return false }
            owner.giveUp()
        }
        // Or this one has ended itself meanwhile, and the next one has the file.
        // Some file systems have no locks. Then other processes have to look after themselves.
        return isOwner.withLock { isOwner in
            isOwner
                && (POSIXFile.lockAgainstOtherProcesses(descriptor)
                    || [ENOLCK, ENOSYS, ENOTSUP].contains(errno))
        }
    }

    /// Changes the file, and returns true, or returns false if another download has taken it.
    func change(_ body: () throws(CocoaError) -> Void) throws(CocoaError) -> Bool {
        try isOwner.withLock { isOwner throws(CocoaError) in
            if isOwner { try body() }
            return isOwner
        }
    }

    /// Unlocks the file, if it is locked, and closes it.
    func close() {
        giveUp()
        _ = Foundation.close(descriptor)
    }

    /// Unlocks the file, and leaves it alone from now on.
    ///
    /// Closing alone leaves it locked while a child process that was just forked still has the descriptor. It is unlocked
    /// before it leaves the table, so that the next download of this process doesn't meet its lock.
    private func giveUp() {
        isOwner.withLock { isOwner in
            if isOwner { POSIXFile.unlock(descriptor) }
            isOwner = false
        }
        leaveTable()
    }

    /// Returns the owner if there is one.
    private func enterTable() -> OpenFile? {
        Self.locked.withLock { files in
            if let owner = files[identity] { return owner }
            files[identity] = self
            return nil
        }
    }

    private func leaveTable() {
        Self.locked.withLock { if $0[identity] === self { $0[identity] = nil } }
    }
}
