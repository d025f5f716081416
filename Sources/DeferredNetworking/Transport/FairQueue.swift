internal import DeferredCore

/// A round-robin queue: first in, first out per host, and the hosts take turns.
package struct FairQueue: Sendable {
    /// The items of each host. Removed items stay in place until their turn comes.
    private var lines: [String: Queue<UInt64>] = [:]
    private var turns = Queue<String>()
    private var waiting: Set<UInt64> = []

    /// The number of removed items that are still in a line: at most 64 more than items that wait.
    private(set) var staleCount = 0

    package init() {}

    package var count: Int { waiting.count }

    func contains(_ item: UInt64) -> Bool { waiting.contains(item) }

    package mutating func append(_ item: UInt64, host: String) {
        waiting.insert(item)
        if lines[host] == nil {
            turns.append(host)
        }
        lines[host, default: Queue()].append(item)
    }

    /// Removes an item and returns true, or returns false if it wasn't waiting. Amortised O(1).
    package mutating func remove(_ item: UInt64) -> Bool {
        guard waiting.remove(item) != nil else { return false }
        staleCount += 1
        if staleCount > waiting.count + 64 {
            removeStale()
        }
        return true
    }

    /// Removes and returns the next item, or nil if none waits. Amortised O(1).
    package mutating func popFirst() -> UInt64? {
        while let host = turns.popFirst() {
            let item = popFirst(of: host)
            if lines[host] != nil { turns.append(host) }
            if let item { return item }
        }
        return nil
    }

    private mutating func popFirst(of host: String) -> UInt64? {
        // Taken out of the dictionary, so that its elements are not copied.
        guard var line = lines.removeValue(forKey: host) else { return nil }
        while let item = line.popFirst() {
            guard waiting.remove(item) != nil else {
                staleCount -= 1
                continue
            }
            if !line.isEmpty { lines[host] = line }
            return item
        }
        return nil
    }

    private mutating func removeStale() {
        staleCount = 0
        lines = lines.compactMapValues { line in
            var line = line
            line.filter(waiting.contains)
            return line.isEmpty ? nil : line
        }
        turns.filter { lines[$0] != nil }
    }
}
