internal import DeferredCore
internal import DeferredNetworking
internal import Dispatch
internal import Foundation

/// Holds responses in a folder, which several processes can share.
///
/// A body is a file that is written once. A head file has what is stored of a resource besides the bodies, and is replaced
/// by renaming a complete one. So whenever a process is killed, there is the old head or the new one, each with its bodies.
/// What a loss of power leaves behind is found by the checksums, which all bytes are checked against before they are used.
/// Readers need no lock. Writers of heads wait for those of other processes, so that none undoes what another one did.
final class DiskStore: ResponseStore {
    var salt: [UInt8] { folder.salt }
    let isBlocking = true
    let health: HealthMonitor
    private let keepsCookies: Bool
    let folder: CacheFolder
    let space: DiskSpace
    /// Orders all that is read and written of heads.
    let queue = DispatchQueue(label: "deferred.cache.heads", qos: .userInitiated)
    let bodies = DispatchQueue(label: "deferred.cache.bodies", qos: .userInitiated, attributes: .concurrent)
    /// The sweeps that have begun and not ended.
    let sweeps = DispatchGroup()
    private let now: @Sendable () -> CacheInstant
    let front = DiskFront(capacity: 4 << 20)
    /// Distinguishes this object's steady clock from those of other processes and objects.
    let process = UInt64.random(in: 0 ... .max)
    let state = Lock(State())

    struct State: Sendable {
        /// The responses that were stored, and those that were damaged.
        var counts = Cache.Statistics()
        /// The heads that were to be removed, and could not be, as on a disk that has become read-only.
        var unremovable: Set<String> = []
        /// The heads that were written since all were to be removed, and could not be found; `nil` if that has not
        /// happened. There is nothing else then.
        var known: Set<String>?

        func isReadable(_ name: String) -> Bool {
            !unremovable.contains(name) && known?.contains(name) != false
        }
    }

    init(
        _ path: String,
        capacity: Int64,
        keepsCookies: Bool = true,
        now: @escaping @Sendable () -> CacheInstant,
        gate: (@Sendable (CacheFolder.Call) -> Bool)? = nil
    ) {
        health = HealthMonitor(on: queue, now: now)
        folder = CacheFolder(path, health: health, gate: gate)
        folder.shareSalt()
        self.keepsCookies = keepsCookies
        self.now = now
        space = DiskSpace(folder, capacity: max(0, capacity), process: process, now: now)
        space.beginCounting()
    }

    var bodyLimit: Int64 { space.capacity / 8 }

    var counts: Cache.Statistics {
        var counts = state.withLock { $0.counts }
        (counts.bytes, counts.evicted) = space.counts
        return counts
    }

    // MARK: - Reading

    func find(_ key: CacheKey, _ body: @escaping @Sendable ([StoredResponse]) -> Void) {
        queue.async {
            let responses = self.remembered(key) ?? self.found(key)
            // What follows may take long, and is not to hold up others.
            self.bodies.async { body(responses) }
        }
    }

    /// Returns what is in memory, if the folder has the same; `nil` if the folder has to be read.
    private func remembered(_ key: CacheKey) -> [StoredResponse]? {
        guard let (entry, status) = current(key), !isToTouch(status) else {
            front.remove(key)
            return nil
        }
        return entry.responses
    }

    /// Returns what is in memory, if the head file is still the one that it was read from.
    private func current(_ key: CacheKey) -> (DiskFront.Entry, CacheFolder.Status)? {
        guard let entry = front.find(key), let status = folder.status(of: entry.name), status.identity == entry.file,
            state.withLock({ $0.isReadable(entry.name) })
        else { return nil }
        return (entry, status)
    }

    private func found(_ key: CacheKey) -> [StoredResponse] {
        guard let (head, file) = read(key) else { return [] }
        guard let head else {
            // Another process may have put a new head in its place meanwhile, so that it is looked at once more.
            folder.withHeadsLocked { removeVariants(of: key) { _ in false } }
            return []
        }
        var status = folder.status(of: file)
        if let old = status, isToTouch(old) {
            folder.touch(file)
            status = folder.status(of: file)
        }
        let responses = head.variants.map { response($0) }
        if let status {
            let name = CacheFileName.head(of: key)
            front.put(key, .init(name: name, file: status.identity, head: head, responses: responses))
        }
        return responses
    }

    /// Returns whether the time of the last use is to be written: once a minute, and at once where a clock ahead has written
    /// it. By the system's clock, which writes it: the cache's may be a test's.
    private func isToTouch(_ status: CacheFolder.Status) -> Bool { abs(CacheFolder.now - status.changed) > 60_000 }

    private func response(_ stored: HeadFile.Stored) -> StoredResponse {
        let body = DiskBody(folder, bodies, stored.version, stored.head.extent.count, stored.checksums)
        return StoredResponse(head: stored.head, body: body, version: stored.version)
    }

    /// Returns the head file of a key, without a head if it is damaged; `nil` if there is none.
    func read(_ key: CacheKey) -> (head: HeadFile?, file: CacheFolder.File)? {
        let name = CacheFileName.head(of: key)
        guard state.withLock({ $0.isReadable(name) }), let file = folder.openFile(name) else { return nil }
        let head = folder.contents(of: file, upTo: HeadFile.sizeLimit).flatMap { HeadFile($0, process: process) }
        return (head?.key == key.text ? head : nil, file)
    }

    // MARK: - Writing

    func put(_ key: CacheKey, _ head: StoredHead, _ body: Data, _ ticket: FetchTicket) {
        queue.async {
            let writer = body.isEmpty ? nil : self.writer(key, head, ticket) as? DiskWriter
            if writer?.append(body) == false { writer?.discard() }
            self.folder.withHeadsLocked { self.commit(key, head, writer, ticket) }
        }
    }

    func writer(_ key: CacheKey, _ head: StoredHead, _ ticket: FetchTicket) -> (any BodyWriter)? {
        guard max(head.extent.count, head.announcedLength ?? 0) <= bodyLimit else { return nil }
        return DiskWriter(folder, space, limit: bodyLimit) { head, writer in
            self.changeHead { self.commit(key, head, writer, ticket) }
        }
    }

    /// Calls `body`, which reads a head and replaces it, on the queue, and while no other process does so.
    func changeHead(_ body: @escaping @Sendable () -> Void) {
        queue.async { self.folder.withHeadsLocked(body) }
    }

    /// Stores a response whose body is there, or is empty: then it has no file. Without its body, it only removes what is
    /// outdated. Called by ``changeHead(_:)``.
    private func commit(_ key: CacheKey, _ head: StoredHead, _ writer: DiskWriter?, _ ticket: FetchTicket) {
        let isEmpty = head.extent.count == 0
        // A stream has a file from its beginning, also if no bytes come.
        if isEmpty { writer?.discard() }
        // Another process may have removed it, as with all responses, while the bytes came.
        let isBodyThere = isEmpty || writer?.isThere == true
        let stored = HeadFile.Stored(
            head: keepsCookies ? head : head.withoutCookies,
            version: writer?.version ?? .random(in: 1 ... .max),
            checksums: writer?.checksums ?? []
        )
        var file = read(key)?.head ?? HeadFile(key: key.text, variants: [])
        let (now, isCurrent) = (now(), isCurrent(key, head, ticket))
        let isOutdated = { (other: HeadFile.Stored) in
            stored.head.outlives(other.head, ticket, isNewest: isCurrent, now: now)
        }
        var gone = file.remove(where: isOutdated)
        guard isCurrent, isBodyThere, !file.variants.contains(where: { stored.head.supersedes($0.head, ticket) }) else {
            writer?.discard()
            return removeVariants(of: key, where: isOutdated)
        }
        file.variants.append(stored)
        if file.variants.count > MemoryStore.variantLimit { gone.append(file.variants.removeFirst()) }
        var bytes = file.bytes(process: process)
        while bytes.count > headLimit, file.variants.count > 1 {
            gone.append(file.variants.removeFirst())
            bytes = file.bytes(process: process)
        }
        if write(bytes, key, replacing: file) != nil {
            unlinkBodies(gone)
            // Another process may have changed the mark just before the head was there, and found nothing to remove.
            if !self.isCurrent(key, head, ticket) { return removeVariants(of: key) { $0.version == stored.version } }
            state.withLock { $0.counts.stored += 1 }
        } else {
            writer?.discard()
            // What the server has replaced must not be taken for the newest because there is no place for that.
            removeVariants(of: key, where: isOutdated)
        }
    }

    /// Returns whether the resource is the same, as far as any process knows, as when the request was sent.
    private func isCurrent(_ key: CacheKey, _ head: StoredHead, _ ticket: FetchTicket) -> Bool {
        ticket.allows(head) && folder.mark(of: key.text) == ticket.mark
    }

    /// A head file may have an eighth of the capacity, as a body.
    private var headLimit: Int { min(HeadFile.sizeLimit, Int(bodyLimit)) }

    /// Replaces the head file of a key, and returns what tells the new one from others; `nil` if that failed.
    func write(_ bytes: Data, _ key: CacheKey, replacing old: HeadFile) -> CacheFolder.Status.Identity? {
        let temporary = CacheFileName.temporary()
        let size = space.size(Int64(bytes.count))
        guard bytes.count <= headLimit, space.reserve(size) else { return nil }
        defer { space.wrote(size) }
        let name = CacheFileName.head(of: key)
        front.remove(key)
        let new = folder.createFile(temporary)
        if let new, bytes.withUnsafeBytes({ folder.append($0, to: new) }), let status = folder.status(of: new),
            folder.renameFile(temporary, to: name)
        {
            state.withLock { state in
                state.unremovable.remove(name)
                state.known?.insert(name)
            }
            space.remove(space.size(old.size)) { true }
            return status.identity
        }
        space.remove(size) { new == nil || folder.unlinkFile(temporary) }
        return nil
    }

    func update(_ key: CacheKey, _ stored: StoredResponse, _ head: StoredHead, _ ticket: FetchTicket) {
        changeHead {
            let (entry, now) = (self.current(key)?.0, self.now())
            guard self.isCurrent(key, head, ticket), var file = entry?.head ?? self.read(key)?.head,
                let index = file.variants.firstIndex(where: { $0.version == stored.version }),
                !file.variants[index].head.isNewer(than: head, now: now)
            else { return }
            file.variants[index].head = self.keepsCookies ? head : head.withoutCookies
            let gone = file.remove { other in
                other.version != stored.version && head.outlives(other.head, ticket, isNewest: true, now: now)
            }
            let bytes = file.bytes(process: self.process)
            guard let identity = self.write(bytes, key, replacing: file) else { return }
            self.unlinkBodies(gone)
            // As for a new response.
            guard self.isCurrent(key, head, ticket) else {
                return self.removeVariants(of: key) { $0.version == stored.version }
            }
            guard let entry, gone.isEmpty else { return }
            file.size = Int64(bytes.count)
            // The next request needs to read neither the head again nor the body.
            let responses = zip(entry.responses, file.variants).map { response, variant in
                StoredResponse(head: variant.head, body: response.body, version: variant.version)
            }
            self.front.put(key, .init(name: entry.name, file: identity, head: file, responses: responses))
        }
    }

    func flush(_ body: @escaping @Sendable () -> Void) {
        queue.async { self.sweeps.notify(queue: self.queue) { self.space.whenTidy(body) } }
    }

    func mark(of key: CacheKey) -> UInt64 { folder.mark(of: key.text) }
}

extension StoredHead {
    fileprivate var withoutCookies: StoredHead { with(headers.without(["Set-Cookie", "Set-Cookie2"])) }
}
