import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct QueueTests {
    @Test func `it agrees with an array`() {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var queue = Queue<Int>()
            var model: [Int] = []
            // Grows in some phases and shrinks in others, beyond the length at which it is compacted.
            for number in 0..<2_000 {
                switch (Int.random(in: 0..<200, using: &random), number / 250 % 2) {
                case (0, _):
                    queue.filter { $0 % 3 > 0 }
                    model.removeAll { $0 % 3 == 0 }
                case (1..<130, 0), (130..., 1):
                    queue.append(number)
                    model.append(number)
                default:
                    #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
                }
                #expect(queue.count == model.count && queue.isEmpty == model.isEmpty && queue.first == model.first)
            }
            while let element = queue.popFirst() { #expect(element == model.removeFirst()) }
            #expect(model.isEmpty)
        }
    }

    @Test func `an element that was taken is not kept`() {
        final class Element {}
        var queue = Queue<Element>()
        weak var gone: Element?
        do {
            let element = Element()
            gone = element
            queue.append(element)
            queue.append(Element())
        }
        _ = queue.popFirst()
        #expect(gone == nil && queue.count == 1)
    }

    @Test func `taking from a long queue costs no more than from a short one`() {
        var queue = Queue<Int>()
        for number in 0..<200_000 { queue.append(number) }
        // With quadratic time, this would go on for minutes.
        for number in 0..<1_000_000 {
            queue.append(200_000 + number)
            guard queue.popFirst() == number else {
                Issue.record("\(number) is not the oldest")
                return
            }
        }
        #expect(queue.count == 200_000)
    }
}
