/// Deadlines, the earliest first. Those that were removed stay until they are the earliest, or until they are many.
struct DeadlineHeap {
    private struct Entry {
        let time: UInt64
        let identifier: UInt64
    }

    private var entries: [Entry] = []
    private var live: Set<UInt64> = []

    /// O(log n).
    mutating func insert(_ identifier: UInt64, at time: UInt64) {
        live.insert(identifier)
        entries.append(Entry(time: time, identifier: identifier))
        siftUp(entries.count - 1)
    }

    /// Amortised O(1).
    mutating func remove(_ identifier: UInt64) {
        guard live.remove(identifier) != nil, entries.count > 2 * live.count + 64 else { return }
        let kept = entries.filter { live.contains($0.identifier) }
        entries = []
        for entry in kept {
            entries.append(entry)
            siftUp(entries.count - 1)
        }
    }

    /// The earliest deadline that counts. Amortised O(log n).
    mutating func earliest() -> UInt64? {
        while let first = entries.first, !live.contains(first.identifier) {
            removeFirst()
        }
        return entries.first?.time
    }

    /// Takes out what is due.
    mutating func popDue(at time: UInt64) -> [UInt64] {
        var due: [UInt64] = []
        while let first = entries.first, first.time <= time {
            removeFirst()
            if live.remove(first.identifier) != nil {
                due.append(first.identifier)
            }
        }
        return due
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var index = 0
        while true {
            let left = 2 * index + 1
            guard left < entries.count else { return }
            let right = left + 1
            let child = right < entries.count && entries[right].time < entries[left].time ? right : left
            guard entries[child].time < entries[index].time else { return }
            entries.swapAt(child, index)
            index = child
        }
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, entries[index].time < entries[(index - 1) / 2].time {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }
}
