/// A binary heap of timers that know their positions, so that any of them can be removed.
///
/// Removed elements leave no tombstones. See Cormen et al., *Introduction to Algorithms*, chapter 6.
struct TimerHeap {
    typealias Element = QueuedTimer

    /// The elements in heap order: none is due before its parent, which is at `(index - 1) / 2`.
    private var elements: [Element] = []

    var count: Int { elements.count }

    /// The deadline of the element that is due first.
    var earliest: ContinuousClock.Instant? { elements.first?.deadline }

    /// - Complexity: O(log n).
    mutating func insert(_ element: Element) {
        precondition(
            element.position == nil,
            "a timer was inserted into a heap, but is already at position \(element.position!)"
        )
        elements.append(element)
        sift(element, at: elements.count - 1)
    }

    /// Removes an element; false if it is not in the heap.
    ///
    /// - Complexity: O(log n).
    mutating func remove(_ element: Element) -> Bool {
        guard let position = element.position else { return false }
        element.position = nil
        let last = elements.removeLast()
        if last !== element { sift(last, at: position) }
        return true
    }

    /// Removes all elements that are due, and returns them, the earliest first.
    ///
    /// - Complexity: O(log n) for each element.
    mutating func removeDue(at now: ContinuousClock.Instant) -> [Element] {
        var due: [Element] = []
        while let first = elements.first, first.deadline <= now, remove(first) { due.append(first) }
        return due
    }

    /// Puts `element` into the hole at `position`, and sifts it up or down to restore the order.
    private mutating func sift(_ element: Element, at position: Int) {
        var hole = position
        while hole > 0, element.deadline < elements[(hole - 1) / 2].deadline {
            fill(hole, with: elements[(hole - 1) / 2])
            hole = (hole - 1) / 2
        }
        while let child = earlierChild(of: hole), elements[child].deadline < element.deadline {
            fill(hole, with: elements[child])
            hole = child
        }
        fill(hole, with: element)
    }

    private func earlierChild(of position: Int) -> Int? {
        let (left, right) = (2 * position + 1, 2 * position + 2)
        guard right < elements.count else { return left < elements.count ? left : nil }
        return elements[right].deadline < elements[left].deadline ? right : left
    }

    private mutating func fill(_ hole: Int, with element: Element) {
        elements[hole] = element
        element.position = hole
    }
}
