/// An element of a ``TimerHeap``.
protocol TimerHeapElement: AnyObject {
    /// When it is due. Never changes.
    var deadline: ContinuousClock.Instant { get }
    /// Its index in the heap; `nil` while it is in none. Belongs to the heap.
    var position: Int? { get set }
}

/// A binary heap whose elements know where they are, so that any of them can be taken out.
///
/// What was taken out leaves nothing behind. See Cormen et al., *Introduction to Algorithms*, chapter 6.
struct TimerHeap<Element: TimerHeapElement> {
    /// No element is due before its parent, which is at half of its index.
    private var elements: [Element] = []

    var count: Int { elements.count }

    /// When the first of the elements is due.
    var earliest: ContinuousClock.Instant? { elements.first?.deadline }

    /// - Complexity: O(log n).
    mutating func insert(_ element: Element) {
        precondition(
            element.position == nil,
            "an element was inserted into a heap while it was at \(element.position!)"
        )
        elements.append(element)
        settle(element, at: elements.count - 1)
    }

    /// Takes the element out; false if it is not in the heap.
    ///
    /// - Complexity: O(log n).
    mutating func remove(_ element: Element) -> Bool {
        guard let position = element.position else { return false }
        element.position = nil
        let last = elements.removeLast()
        if last !== element { settle(last, at: position) }
        return true
    }

    /// Takes out all that is due, the earliest first.
    ///
    /// - Complexity: O(log n) for each.
    mutating func removeDue(at now: ContinuousClock.Instant) -> [Element] {
        var due: [Element] = []
        while let first = elements.first, first.deadline <= now, remove(first) { due.append(first) }
        return due
    }

    /// Puts `element` into the hole at `position`, or where it belongs above or below.
    private mutating func settle(_ element: Element, at position: Int) {
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
