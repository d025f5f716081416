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

    /// A mark that this process has written, and the one that it stands for: what another process wrote last.
    struct OwnMark: Sendable {
        var written: UInt64
        var foreign: UInt64
    }

    /// Returns a number that is another one when another process has changed a resource since.
    ///
    /// It is no time, since clocks are set, and tell nothing of what is as short as a request.
    func mark(of key: String) -> UInt64 {
        guard let file = marks() else { return 0 }
        return ownMarks.withLock { Self.foreignMark(file, Self.position(key), $0) }
    }

    /// Tells other processes that a resource was changed; `nil` for all. Some others share its mark: what is on its way of
    /// these, to other processes, is not stored either.
    func changeMark(of key: String?) {
        guard let file = currentMarks() else { return }
        guard let key else {
            // Otherwise, between another process's reading of a mark and its writing, it would be lost.
            let marks = (0..<Self.markCount).map { _ in UInt64.random(in: 1 ... .max) }
            return ownMarks.withLock { _ in withMarksLocked { _ in write(marks, to: file, at: 0) } }
        }
        let (position, new) = (Self.position(key), UInt64.random(in: 1 ... .max))
        ownMarks.withLock { own in
            withMarksLocked { isAlone in
                let foreign = Self.foreignMark(file, position, own)
                write([new], to: file, at: position)
                own[position] = isAlone ? OwnMark(written: new, foreign: foreign) : nil
            }
        }
    }

    /// Calls `body` while no other process writes marks, so that none is written between a reading and a writing, and lost.
    ///
    /// The lock is on the folder, and is held for three calls. After a millisecond, whoever holds it was stopped; what is
    /// written counts as another process's then.
    private func withMarksLocked(_ body: (_ isAlone: Bool) -> Void) {
        at { folder in Self.locking(folder, tries: 20, pause: 50, body) }
    }

    /// Calls `body`, which replaces or removes heads, while no other process does, so that none undoes what another one did.
    ///
    /// The lock is on the file with the marks. After a quarter of a second, whoever holds it was stopped, and isn't waited for
    /// again until the lock is free.
    func withHeadsLocked(_ body: () -> Void) {
        guard let file = currentMarks() else { return body() }
        let isStopped = opened.withLock { $0.isHolderStopped }
        // Another thread may open the folder once more meanwhile.
        withExtendedLifetime(file) {
            Self.locking(file.descriptor, tries: isStopped ? 1 : 250, pause: 1_000) { isAlone in
                if isAlone == isStopped { opened.withLock { $0.isHolderStopped = !isAlone } }
                body()
            }
        }
    }

    /// Calls `body` with the lock on an open file, or without it if other processes keep it, or the file system has none.
    ///
    /// - Parameter pause: The time between two tries, in microseconds.
    private static func locking(
        _ descriptor: Int32,
        tries: Int,
        pause: useconds_t,
        _ body: (_ isAlone: Bool) -> Void
    ) {
        var isAlone = POSIXFile.lockAgainstOtherProcesses(descriptor)
        for _ in 1..<tries where !isAlone && (errno == EWOULDBLOCK || errno == EINTR) {
            _ = usleep(pause)
            isAlone = POSIXFile.lockAgainstOtherProcesses(descriptor)
        }
        body(isAlone)
        if isAlone { POSIXFile.unlock(descriptor) }
    }

    private static func foreignMark(_ file: File, _ position: off_t, _ own: [off_t: OwnMark]) -> UInt64 {
        var mark: UInt64 = 0
        let count = withUnsafeMutableBytes(of: &mark) { pread(file.descriptor, $0.baseAddress, 8, position) }
        guard count == 8 else { return 0 }
        return own[position].flatMap { $0.written == mark ? $0.foreign : nil } ?? mark
    }

    private func write(_ marks: [UInt64], to file: File, at position: off_t) {
        let count = marks.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, position) }
        if count != marks.count * 8 { failed(.write, "lock") }
    }

    private static func position(_ key: String) -> off_t {
        off_t(Array(key.utf8).withUnsafeBytes(XXHash64.hash) % UInt64(markCount) * 8)
    }

    /// Returns the file with the marks that other processes use: if it was removed, alone or with the folder, another one.
    private func currentMarks() -> File? {
        let file = marks()
        if (file ?? opened.withLock { $0.directory })?.isThere == true { return file }
        return reopen() ? marks() : nil
    }

    /// Returns the file with the marks, which stays open.
    private func marks() -> File? {
        if let file = opened.withLock({ $0.marks }) { return file }
        var found = open("lock", O_RDWR)
        if found == nil {
            if errno == ENOENT { allocateMarks() }
            found = open("lock", O_RDWR | O_CREAT)
        }
        guard let file = found else { return nil }
        opened.withLock { $0.marks = file }
        return file
    }

    /// Gives the marks their space, so that a mark can be changed when the disk is full.
    private func allocateMarks() {
        let temporary = CacheFileName.temporary()
        guard let file = createFile(temporary) else { return }
        defer { removeFile(temporary) }
        let isWritten = Data(count: Self.markCount * 8).withUnsafeBytes { append($0, to: file) }
        // Another process may be faster.
        if isWritten { _ = linkFile(temporary, to: "lock") }
    }

    /// Runs `body`, which makes room, unless another process does; doesn't wait for it, and returns false then.
    func withRoomLocked(_ body: () -> Void) -> Bool {
        guard let file = open("room", O_RDWR | O_CREAT) else { return true }
        return withExtendedLifetime(file) {
            var isOurs = true
            // Closing alone doesn't unlock: a child process that is just being started still has the file open.
            Self.locking(file.descriptor, tries: 1, pause: 0) { isAlone in
                // Where the file system has no locks, each makes room: what another one has removed counts as removed.
                isOurs = isAlone || errno != EWOULDBLOCK
                if isOurs { body() }
            }
            return isOurs
        }
    }
}
