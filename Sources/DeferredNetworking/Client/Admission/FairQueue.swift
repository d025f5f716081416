/// A round-robin queue: first in, first out per host, and the hosts take turns.
package struct FairQueue: Sendable {
    private var lines: [String: Line] = [:]
    private var turns: [String] = []
    private var nextTurn = 0
    private var waiting: Set<UInt64> = []
    private var staleCount = 0

    /// The queue of one host. Removed items stay in place until their turn comes.
    private struct Line: Sendable {
        var items: [UInt64] = []
        var next = 0
    }

    package init() {}

    package var count: Int { waiting.count }

    package mutating func append(_ item: UInt64, host: String) {
        waiting.insert(item)
        if lines[host] == nil {
            turns.append(host)
        }
        lines[host, default: Line()].items.append(item)
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
        while nextTurn < turns.count {
            let host = turns[nextTurn]
            nextTurn += 1
            let item = popFirst(of: host)
            if lines[host] != nil {
                turns.append(host)
            }
            if nextTurn > turns.count / 2 {
                turns.removeFirst(nextTurn)
                nextTurn = 0
            }
            if let item { return item }
        }
        return nil
    }

    private mutating func popFirst(of host: String) -> UInt64? {
        guard var line = lines.removeValue(forKey: host) else { return nil }
        while line.next < line.items.count {
            let item = line.items[line.next]
            line.next += 1
            guard waiting.remove(item) != nil else {
                staleCount -= 1
                continue
            }
            if line.next > line.items.count / 2 {
                line.items.removeFirst(line.next)
                line.next = 0
            }
            if !line.items.isEmpty {
                lines[host] = line
            }
            return item
        }
        return nil
    }

    private mutating func removeStale() {
        staleCount = 0
        for (host, line) in lines {
            let items = line.items[line.next...].filter(waiting.contains)
            lines[host] = items.isEmpty ? nil : Line(items: items)
        }
        turns = turns[nextTurn...].filter { lines[$0] != nil }
        nextTurn = 0
    }
}
