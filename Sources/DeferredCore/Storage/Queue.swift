/// A first-in, first-out queue, with amortised constant time at both ends.
package struct Queue<Element> {
    /// The elements before `head` have been taken.
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }

    package var isEmpty: Bool { head == elements.count }

    /// The oldest element; `nil` if there is none.
    package var first: Element? { isEmpty ? nil : elements[head] }

    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element; returns `nil` if there is none.
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        // Taken out of its place, so that nothing is retained here or copied later.
        let element = elements[head].take()
        head += 1
        if isEmpty {
            removeAll()
        } else if head > 32, 2 * head >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Removes all elements, and keeps the memory.
    package mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        head = 0
    }

    /// Keeps only the elements that satisfy `isIncluded`, in their order.
    ///
    /// - Complexity: O(n).
    package mutating func filter(_ isIncluded: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map(isIncluded) == true }
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
