/// Elements under growing numbers, in the order in which they were added.
///
/// Adding and removing take amortised O(1) time, and finding an element O(log *n*). The first one costs no more than an
/// array, since most tasks with children have a single child. Inlinable: otherwise, a request through a chain with an
/// `Autocancel` takes 4 % more instructions.
@frozen
@usableFromInline
package struct NumberedList<Element> {
    /// No tuple, whose copies the runtime makes by its metadata: a request through a chain took thousands of instructions more.
    @frozen
    @usableFromInline
    struct Slot {
        @usableFromInline let number: Int
        @usableFromInline var element: Element?

        @inlinable
        init(number: Int, element: Element?) { (self.number, self.element) = (number, element) }
    }

    @usableFromInline var slots: [Slot] = []
    @usableFromInline package private(set) var count = 0
    @usableFromInline var lastNumber = 0

    @inlinable
    package init() {}

    @inlinable
    package var isEmpty: Bool { count == 0 }

    @inlinable
    package var elements: [Element] { slots.compactMap(\.element) }

    var numbered: [(Int, Element)] { slots.compactMap { slot in slot.element.map { (slot.number, $0) } } }

    /// Adds an element. Returns its number, which is 1 or more.
    @inlinable
    package mutating func append(_ element: Element) -> Int {
        lastNumber += 1
        slots.append(Slot(number: lastNumber, element: element))
        count += 1
        return lastNumber
    }

    @inlinable
    package mutating func remove(_ number: Int) -> Element? {
        guard let index = index(of: number), let element = slots[index].element.take() else { return nil }
        count -= 1
        if count * 2 < slots.count { slots.removeAll { $0.element == nil } }
        return element
    }

    /// Removes all elements. Their numbers are not used again.
    @inlinable
    package mutating func removeAll() { (slots, count) = ([], 0) }

    subscript(number: Int) -> Element? {
        index(of: number).flatMap { slots[$0].element }
    }

    /// The element, if there is a single one.
    var only: Element? { count == 1 ? slots.first { $0.element != nil }?.element : nil }

    /// Calls `body` with an element in place; returns `nil` if there is none.
    @discardableResult
    mutating func update<Result>(_ number: Int, _ body: (inout Element) -> Result?) -> Result? {
        guard let index = index(of: number), slots[index].element != nil else { return nil }
        return body(&slots[index].element!)
    }

    @inlinable
    func index(of number: Int) -> Int? {
        var range = slots.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if slots[middle].number == number { return middle }
            range = slots[middle].number < number ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return nil
    }
}

extension NumberedList.Slot: Sendable where Element: Sendable {}
extension NumberedList: Sendable where Element: Sendable {}
