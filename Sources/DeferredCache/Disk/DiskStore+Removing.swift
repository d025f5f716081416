internal import DeferredCore
internal import Dispatch
internal import Foundation

// MARK: Removing

extension DiskStore {
    func unlinkBodies(_ gone: [HeadFile.Stored]) {
        for stored in gone where stored.head.extent.count > 0 {
            space.remove(space.size(stored.head.extent.count)) {
                folder.unlinkFile(CacheFileName.body(stored.version))
            }
        }
    }

    func invalidate(_ key: CacheKey) {
        // At once: a request that is sent next is not outdated.
        folder.changeMark(of: key.text)
        changeHead { self.removeVariants(of: key) { _ in true } }
    }

    func remove(_ key: CacheKey, where isGone: @escaping @Sendable (StoredHead) -> Bool) {
        changeHead { self.removeVariants(of: key) { isGone($0.head) } }
    }

    /// Called by ``changeHead(_:)``.
    func removeVariants(of key: CacheKey, where isGone: (HeadFile.Stored) -> Bool) {
        front.remove(key)
        let found = read(key)
        guard var file = found?.head else {
            if found != nil { state.withLock { $0.counts.damaged += 1 } }
            // One that can't be opened now, as with too many open files, must not come back later.
            let name = CacheFileName.head(of: key)
            if folder.status(of: name) != nil { removeHead(name) }
            return
        }
        let gone = file.remove(where: isGone)
        // A response that can't be removed alone is removed with the others.
        if gone.isEmpty { return }
        if file.variants.isEmpty || write(file.bytes(process: process), key, replacing: file) == nil {
            removeHead(CacheFileName.head(of: key), file.size)
            unlinkBodies(file.variants)
        }
        unlinkBodies(gone)
    }

    /// Removes a head, which is not read again even if it stays; returns false then.
    @discardableResult
    func removeHead(_ name: String, _ size: Int64 = 0) -> Bool {
        var isGone = true
        space.remove(space.size(size)) {
            if folder.unlinkFile(name) { return true }
            if errno != ENOENT {
                isGone = false
                state.withLock { _ = $0.unremovable.insert(name) }
            }
            return false
        }
        return isGone
    }

    func sweep(
        andUnreadable removesUnreadable: Bool,
        _ isGone: @escaping @Sendable (CacheKey, StoredHead) -> Bool,
        _ end: @escaping @Sendable () -> Void
    ) {
        sweeps.enter()
        // After what was stored before, and without holding up hits while all heads are read.
        queue.async {
            self.bodies.async {
                let isWhole = self.folder.forEachName { name in
                    guard CacheFileName.kind(of: name) == .head, self.state.withLock({ $0.isReadable(name) }) else {
                        return
                    }
                    guard let file = self.folder.openFile(name) else {
                        if removesUnreadable, errno != ENOENT { self.queue.async { self.removeHead(name) } }
                        return
                    }
                    guard let bytes = self.folder.contents(of: file, upTo: HeadFile.sizeLimit),
                        let head = HeadFile(bytes, process: self.process), let key = CacheKey(text: head.key)
                    else { return }
                    let gone = Set(head.variants.filter { isGone(key, $0.head) }.map(\.version))
                    if gone.isEmpty { return }
                    self.changeHead { self.removeVariants(of: key) { gone.contains($0.version) } }
                }
                self.queue.async {
                    if removesUnreadable, !isWhole { self.state.withLock { $0.known = [] } }
                    end()
                    self.sweeps.leave()
                }
            }
        }
    }

    func removeDamaged(_ key: CacheKey, _ stored: StoredResponse) {
        let failure = (stored.body as? DiskBody)?.failure
        if failure == .lacksDescriptor { return }
        // A response that is removed while it is found has no damage.
        if failure != .hasVanished { state.withLock { $0.counts.damaged += 1 } }
        changeHead { self.removeVariants(of: key) { $0.version == stored.version } }
    }

    func removeAll(_ body: @escaping @Sendable () -> Void) {
        folder.changeMark(of: nil)
        queue.async {
            self.front.removeAll()
            var isEmpty = true
            let isWhole = self.folder.forEachName { name in
                switch CacheFileName.kind(of: name) {
                case .head: self.folder.withHeadsLocked { isEmpty = self.removeHead(name) && isEmpty }
                case .body, .temporary: isEmpty = self.folder.removeFile(name) && isEmpty
                case nil: break
                }
            }
            self.state.withLock { $0.known = isWhole ? nil : [] }
            // What stays still takes its place.
            if isWhole, isEmpty { self.space.clear() } else { self.space.recount() }
            body()
        }
    }
}
