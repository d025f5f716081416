internal import DeferredCore
internal import DeferredNetworking
internal import Foundation

// MARK: What the processes share

extension CacheFolder {
    var salt: [UInt8] { opened.withLock { $0.salt } }

    /// Takes the salt that the folder has, or gives it its own.
    func shareSalt() {
        let own = salt.isEmpty ? (0..<16).map { _ in UInt8.random(in: 0...255) } : salt
        let shared = storedSalt() ?? writeSalt(own)
        opened.withLock { $0.salt = shared }
    }

    private func storedSalt() -> [UInt8]? {
        openFile("salt").flatMap { contents(of: $0, upTo: 16) }.flatMap { $0.count == 16 ? Array($0) : nil }
    }

    /// Stores a salt unless there is one, and returns the one that counts. Without a place for it, it serves this process.
    private func writeSalt(_ salt: [UInt8]) -> [UInt8] {
        let temporary = CacheFileName.temporary()
        guard let file = createFile(temporary) else { return salt }
        defer { removeFile(temporary) }
        guard salt.withUnsafeBytes({ append($0, to: file) }), !linkFile(temporary, to: "salt") else { return salt }
        // Another process was faster, or the salt is damaged.
        if let stored = storedSalt() { return stored }
        _ = renameFile(temporary, to: "salt")
        return salt
    }

    /// The number of marks, among which resources are distributed: a block of most disks.
    private static let markCount = 512

    /// Returns a number that is another one when any process has changed a resource since.
    ///
    /// It is no time, since clocks are set, and tell nothing of what is as short as a request.
    func mark(of key: String) -> UInt64 {
        var mark: UInt64 = 0
        guard let file = marks() else { return 0 }
        let count = withUnsafeMutableBytes(of: &mark) { pread(file.descriptor, $0.baseAddress, 8, Self.position(key)) }
        return count == 8 ? mark : 0
    }

    /// Tells other processes that a resource was changed; `nil` for all. Some others share its mark: what is on its way of
    /// these is not stored either.
    func changeMark(of key: String?) {
        // Another process may have made a removed folder again, and use that.
        var status = stat()
        if at({ fstat($0, &status) }) != 0 || status.st_nlink == 0 { _ = reopen() }
        guard let file = marks() else { return }
        let marks = (0..<(key == nil ? Self.markCount : 1)).map { _ in UInt64.random(in: 1 ... .max) }
        let count = marks.withUnsafeBytes {
            pwrite(file.descriptor, $0.baseAddress, $0.count, key.map(Self.position) ?? 0)
        }
        if count != marks.count * 8 { failed(.write, "lock") }
    }

    private static func position(_ key: String) -> off_t {
        off_t(Array(key.utf8).withUnsafeBytes(XXHash64.hash) % UInt64(markCount) * 8)
    }

    /// Returns the file with the marks, which stays open.
    private func marks() -> File? {
        if let file = opened.withLock({ $0.marks }) { return file }
        guard let file = lockFile() else { return nil }
        opened.withLock { $0.marks = file }
        return file
    }

    private func lockFile() -> File? {
        let file = at { openat($0, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600) }
        return file >= 0 ? File(file) : nil
    }

    /// Runs `body` while no other process holds the lock of the folder; doesn't wait for it.
    func withLock(_ body: () -> Void) {
        guard let file = lockFile() else { return }
        // Released by closing.
        withExtendedLifetime(file) {
            if POSIXFile.lockAgainstOtherProcesses(file.descriptor) { body() }
        }
    }
}
