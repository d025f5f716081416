internal import DeferredCore
internal import Dispatch
internal import Foundation

/// Keeps the folder of a cache within its capacity.
///
/// Whatever is written is reserved before, so that the number here is never less than what the folder takes: room is made
/// before the bytes come, and not after. Other processes store, too. So each counts anew whenever it has stored an eighth of
/// the capacity itself.
final class DiskSpace: Sendable {
    let capacity: Int64
    private let folder: CacheFolder
    private let process: UInt64
    private let now: @Sendable () -> CacheInstant
    private let queue = DispatchQueue(label: "deferred.cache.housekeeping", qos: .utility)
    private let state = Lock(State())

    private struct State: Sendable {
        /// At least the bytes of all files.
        var bytes: Int64 = 0
        /// Those that are reserved, and not written yet.
        var pending: Int64 = 0
        /// Those that a count under way may not see.
        var unseen: Int64 = 0
        /// Those that were reserved since the last count.
        var stored: Int64 = 0
        var evictedCount = 0
        /// False until the folder was looked through.
        var isCounted = false
        /// The number of counts that were begun, and of those that have ended.
        var counts = 0
        /// True while there is a count to come that nobody else needs to begin.
        var isScheduled = true
        /// True if somebody waits for a count, which makes no pauses then.
        var isAwaited = false
    }

    init(_ folder: CacheFolder, capacity: Int64, process: UInt64, now: @escaping @Sendable () -> CacheInstant) {
        self.folder = folder
        self.capacity = capacity
        self.process = process
        self.now = now
    }

    /// The bytes, and the number of responses that were removed to make room.
    var counts: (bytes: Int64, evicted: Int) { state.withLock { ($0.bytes, $0.evictedCount) } }

    /// Returns what a file with a number of bytes takes on disk: whole blocks, and none for no file.
    func size(_ bytes: Int64) -> Int64 { (bytes + folder.blockSize - 1) / folder.blockSize * folder.blockSize }

    // MARK: Reserving

    /// The size that stored responses never exceed. The rest is for the salt, the marks, and what processes store before
    /// they have counted.
    private var limit: Int64 { capacity / 16 * 15 - 2 * folder.blockSize }
    /// The size at which room is made, in the background.
    private var mark: Int64 { capacity / 8 * 7 }
    /// The size that is left then.
    private var goal: Int64 { capacity / 4 * 3 }

    /// Reserves space for bytes, which ``wrote(_:)`` or ``remove(_:_:)`` is told about; returns false if there is none.
    func reserve(_ bytes: Int64) -> Bool {
        if claim(bytes) { return true }
        guard state.withLock({ $0.isCounted }) else { return false }
        // Storing was faster than making room. Hits wait as well, which is better than a folder that is too large.
        return queue.sync {
            // Another one that has waited may have made room.
            if claim(bytes) { return true }
            let isTidy = tidy(for: bytes)
            if claim(bytes) { return true }
            // As with files of responses that were cut short, which stay for a while. While another process makes room, what
            // comes is not stored, which is no failure: waiting for that would hold up hits for as long as it takes.
            if isTidy { folder.lacksRoom() }
            return false
        }
    }

    /// Reserves space if there is some, and has the folder looked through, in the background, once it becomes tight.
    private func claim(_ bytes: Int64) -> Bool {
        let (fits, isTight) = state.withLock { state in
            let fits = state.bytes + bytes <= (state.isCounted ? limit : capacity / 16)
            if fits {
                state.bytes += bytes
                state.pending += bytes
                state.unseen += bytes
                state.stored += bytes
            }
            let isTight = fits ? state.bytes > mark || state.stored > capacity / 8 : !state.isCounted
            guard isTight, !state.isScheduled else { return (fits, false) }
            state.isScheduled = true
            return (fits, true)
        }
        if isTight { queue.async { self.tidy() } }
        return fits
    }

    /// Notes that reserved bytes are written, or are not going to be.
    func wrote(_ bytes: Int64) { state.withLock { $0.pending -= bytes } }

    /// Removes a file by `unlink`, which returns whether it was there.
    func remove(_ bytes: Int64, _ unlink: () -> Bool) {
        let counts = state.withLock { $0.counts }
        guard unlink() else { return }
        state.withLock { state in
            // A count under way may not have seen the file any more.
            guard state.counts == counts, counts.isMultiple(of: 2) else { return }
            state.bytes = max(0, state.bytes - bytes)
        }
    }

    /// Notes that everything was removed.
    func clear() {
        state.withLock { state in
            state.counts += 2
            state.bytes = state.pending
        }
    }

    /// Counts anew, in the background.
    func recount() {
        state.withLock { $0.isScheduled = true }
        queue.async { self.tidy() }
    }

    // MARK: Counting

    /// Counts what is there, and makes room if that is too much.
    func beginCounting() {
        if folder.isNew {
            begin()
            return end(0)
        }
        queue.async { [weak self, folder] in
            self?.begin()
            let bytes = Self.countBytes(in: folder) { self.map { space in space.state.withLock { $0.isAwaited } } }
            self?.end(bytes)
            if bytes.map({ $0 > self?.mark ?? .max }) == true { self?.tidy() }
        }
    }

    /// Calls `body` when the folder has been counted, and room has been made.
    func whenTidy(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.isAwaited = true }
        queue.async(execute: body)
    }

    private func begin() {
        state.withLock { state in
            state.counts += 1
            state.unseen = state.pending
        }
    }

    private func end(_ bytes: Int64?, removed: Int = 0) {
        state.withLock { state in
            state.counts += 1
            state.isScheduled = false
            state.evictedCount += removed
            guard let bytes else { return }
            state.bytes = bytes + state.unseen
            state.stored = 0
            state.isCounted = true
        }
    }

    /// The time for which the files of another version of the format are left alone: 30 days, in milliseconds.
    private static let foreignAge: Int64 = 30 * 86_400_000

    /// The number of files after which the counting lets others go first.
    private static let countingStep = 64

    /// Returns the bytes of all files; `nil` if they can't be listed, or nobody needs them any more.
    ///
    /// A large folder takes seconds, most of them pauses: without these, the first requests would wait for a processor
    /// where there are few.
    ///
    /// - Parameter isAwaited: Whether somebody waits; `nil` if nobody needs the number any more.
    private static func countBytes(in folder: CacheFolder, _ isAwaited: () -> Bool?) -> Int64? {
        var (bytes, count, goesOn): (Int64, Int, Bool) = (0, 0, true)
        let isWhole = folder.forEachName { name in
            guard goesOn else { return }
            if CacheFileName.kind(of: name) != nil {
                bytes += folder.status(of: name)?.allocated ?? 0
            } else if CacheFileName.isForeign(name), let status = folder.status(of: name) {
                // Another release may still use it.
                if abs(CacheFolder.now - status.changed) > foreignAge { folder.removeFile(name) }
            } else {
                return
            }
            count += 1
            guard count.isMultiple(of: countingStep) else { return }
            let isAwaited = isAwaited()
            goesOn = isAwaited != nil
            if isAwaited == false { usleep(1_000) }
        }
        return goesOn && isWhole ? bytes : nil
    }

    /// Counts what is there, and removes responses if that is too much: in one process at a time.
    ///
    /// - Returns: False if another process is doing so.
    @discardableResult
    private func tidy(for bytes: Int64 = 0) -> Bool {
        begin()
        var result: (bytes: Int64, removedCount: Int)?
        let isOurs = folder.withRoomLocked {
            result = Eviction(folder, now: now(), process: process).remove(downTo: goal, from: min(mark, limit - bytes))
        }
        end(result?.bytes, removed: result?.removedCount ?? 0)
        return isOurs
    }
}
