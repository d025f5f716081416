/// A first-in, first-out queue, with amortised constant time at both ends.
@frozen
@usableFromInline
package struct Queue<Element> {
    /// The elements before `head` have been taken.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// - Parameter capacity: The number of elements for which there is memory at once.
    @inlinable
    package init(capacity: Int = 0) { if capacity > 0 { elements.reserveCapacity(capacity) } }

    @inlinable
    package var count: Int { elements.count - head }

    @inlinable
    package var isEmpty: Bool { head == elements.count }

    /// The oldest element; `nil` if there is none.
    @inlinable
    package var first: Element? { isEmpty ? nil : elements[head] }

    @inlinable
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the oldest element; returns `nil` if there is none.
    @inlinable
    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        // Taken out of its place, so that nothing is retained here or copied later.
        let element = elements[head].take()
        head += 1
        if isEmpty {
            // Not by `removeAll`, which takes ten times as long for the few elements that there mostly are.
            for _ in 0..<head { elements.removeLast() }
            head = 0
        } else if head > 32, 2 * head >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Keeps only the elements that satisfy `isIncluded`, in their order.
    ///
    /// - Complexity: O(n).
    @inlinable
    package mutating func filter(_ isIncluded: (Element) -> Bool) {
        elements = elements[head...].filter { $0.map(isIncluded) == true }
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
