import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TimerHeapTests {
    private static let start = ContinuousClock.now

    private func instant(_ seconds: Int) -> ContinuousClock.Instant { Self.start.advanced(by: .seconds(seconds)) }

    private func timer(due seconds: Int) -> QueuedTimer {
        QueuedTimer(.submitted(), in: .shared, at: instant(seconds), {})
    }

    @Test func `due elements are removed, the earliest first`() {
        var heap = TimerHeap()
        let elements = [50, 10, 30, 20, 40].map { timer(due: $0) }
        for element in elements { heap.insert(element) }
        #expect(heap.earliest == instant(10))
        let due = (heap.removeDue(at: instant(9)), heap.removeDue(at: instant(30)))
        #expect(due.0.isEmpty && due.1.map(\.deadline) == [10, 20, 30].map(instant))
        let removed = (heap.remove(elements[4]), heap.remove(elements[4]), heap.remove(elements[1]))
        #expect(removed == (true, false, false))
        #expect(heap.earliest == instant(50) && heap.count == 1)
        let last = heap.removeDue(at: instant(1_000))
        #expect(last.map(\.deadline) == [instant(50)])
        #expect(heap.earliest == nil && heap.count == 0)
        #expect(elements.allSatisfy { $0.position == nil })
    }

    @Test func `every element can be taken out of every heap of up to six`() {
        for count in 1...6 {
            for deadlines in permutations(of: Array(0..<count)) {
                for gone in 0..<count {
                    var heap = TimerHeap()
                    let elements = deadlines.map { timer(due: $0) }
                    for element in elements { heap.insert(element) }
                    let wasThere = heap.remove(elements[gone])
                    #expect(wasThere && heap.count == count - 1)
                    let rest = heap.removeDue(at: instant(count)).map(\.deadline)
                    #expect(rest == (0..<count).filter { $0 != deadlines[gone] }.map(instant))
                }
            }
        }
    }

    @Test func `it agrees with a sorted array`() {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var heap = TimerHeap()
            var all: [QueuedTimer] = []
            var model: [QueuedTimer] = []
            for _ in 0..<500 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    let now = instant(Int.random(in: 0..<300, using: &random))
                    let due = heap.removeDue(at: now)
                    #expect(
                        Set(due.map(ObjectIdentifier.init))
                            == Set(model.filter { $0.deadline <= now }.map(ObjectIdentifier.init))
                    )
                    #expect(due.map(\.deadline) == due.map(\.deadline).sorted())
                    model.removeAll { $0.deadline <= now }
                case 1...3:
                    guard let gone = all.randomElement(using: &random) else { continue }
                    let wasThere = heap.remove(gone)
                    #expect(wasThere == model.contains { $0 === gone })
                    model.removeAll { $0 === gone }
                default:
                    let element = timer(due: Int.random(in: 0..<300, using: &random))
                    heap.insert(element)
                    all.append(element)
                    model.append(element)
                    model.sort { $0.deadline < $1.deadline }
                }
                #expect(heap.count == model.count && heap.earliest == model.first?.deadline)
                #expect(Set(model.map(\.position)) == Set(0..<model.count))
            }
        }
    }

    @Test func `removed elements are not kept`() {
        var heap = TimerHeap()
        let last = timer(due: 0)
        weak var gone: QueuedTimer?
        do {
            let element = timer(due: 1)
            heap.insert(element)
            heap.insert(last)
            gone = element
            let wasThere = heap.remove(element)
            #expect(wasThere)
        }
        #expect(gone == nil && heap.count == 1)
    }
}

private func permutations(of elements: [Int]) -> [[Int]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let element = rest.remove(at: index)
        return permutations(of: rest).map { [element] + $0 }
    }
}
