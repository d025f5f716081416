internal import Foundation

/// One pass over the folder of a cache that has become too large. Made by one process at a time.
struct Eviction {
    /// Files without a head that are younger may belong to a response that is being stored.
    private static let orphanAge: Int64 = 600_000

    private struct Candidate {
        let name: String
        let file: CacheFolder.Status.Identity
        let bodies: [String]
        let size: Int64
        let isUseless: Bool
        let lastUse: Int64
    }

    private let folder: CacheFolder
    private let now: CacheInstant
    private let process: UInt64

    init(_ folder: CacheFolder, now: CacheInstant, process: UInt64) {
        self.folder = folder
        self.now = now
        self.process = process
    }

    /// Removes what no head refers to, and then responses: first those that are of no use any more, then those that were
    /// not used for the longest time.
    ///
    /// - Parameter mark: The number of bytes above which responses are removed.
    /// - Returns: The numbers of bytes that are left, and of responses that were removed; `nil` if the folder can't be
    ///   listed, or a head can't be opened.
    func remove(downTo goal: Int64, from mark: Int64) -> (bytes: Int64, removedCount: Int)? {
        var heads: [String] = []
        var others: [String: CacheFolder.Status] = [:]
        let isWhole = folder.forEachName { name in
            switch CacheFileName.kind(of: name) {
            case .head: heads.append(name)
            case .body, .temporary: others[name] = folder.status(of: name)
            case nil: break
            }
        }
        guard isWhole else { return nil }
        var candidates: [Candidate] = []
        for name in heads {
            guard let file = folder.openFile(name) else {
                // Removed since. After anything else, such as too many open files, its bodies would pass for orphans.
                if errno == ENOENT { continue }
                return nil
            }
            if let candidate = candidate(name, file, &others) { candidates.append(candidate) }
        }
        var bytes = candidates.reduce(0) { $0 + $1.size }
        let wall = CacheFolder.now
        for (name, status) in others {
            if abs(wall - status.changed) > Self.orphanAge, folder.removeFile(name) { continue }
            bytes += status.allocated
        }
        var removedCount = 0
        if bytes <= mark { return (bytes, removedCount) }
        candidates.sort { $0.isUseless == $1.isUseless ? $0.lastUse < $1.lastUse : $0.isUseless }
        for candidate in candidates where bytes > goal {
            guard remove(candidate.name, candidate.file) else { continue }
            for body in candidate.bodies { folder.removeFile(body) }
            bytes -= candidate.size
            removedCount += 1
        }
        return (bytes, removedCount)
    }

    /// Removes a head file, unless it was replaced or used since it was read, which may be seconds ago.
    ///
    /// - Returns: True if it is gone, whoever has removed it.
    private func remove(_ name: String, _ file: CacheFolder.Status.Identity) -> Bool {
        guard let status = folder.status(of: name) else { return errno == ENOENT }
        return status.identity == file && folder.removeFile(name)
    }

    /// Takes the bodies of a head out of `others`.
    private func candidate(
        _ name: String,
        _ file: CacheFolder.File,
        _ others: inout [String: CacheFolder.Status]
    ) -> Candidate? {
        guard let status = folder.status(of: file) else { return nil }
        guard let bytes = folder.contents(of: file, upTo: HeadFile.sizeLimit),
            let head = HeadFile(bytes, process: process)
        else {
            _ = remove(name, status.identity)
            return nil
        }
        var size = status.allocated
        let bodies = head.variants.map { CacheFileName.body($0.version) }
        for body in bodies { size += others.removeValue(forKey: body)?.allocated ?? 0 }
        let isUseless = head.variants.allSatisfy { $0.head.conditions.isEmpty && $0.head.staleness(at: now) >= 0 }
        return Candidate(
            name: name,
            file: status.identity,
            bodies: bodies,
            size: size,
            isUseless: isUseless,
            lastUse: status.changed > CacheFolder.now ? 0 : status.changed
        )
    }
}
