import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Fair queue", .ownThread, .timeLimit(.minutes(1)))
struct FairQueueTests {
    private func drain(_ queue: inout FairQueue) -> [UInt64] {
        var result: [UInt64] = []
        while let item = queue.popFirst() {
            result.append(item)
        }
        return result
    }

    @Test func `hosts take turns, and each has its own order`() {
        var queue = FairQueue()
        for (item, host) in [(1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "b")] {
            queue.append(UInt64(item), host: host)
        }
        #expect(queue.count == 6)
        #expect(drain(&queue) == [1, 4, 5, 2, 6, 3])
        #expect(queue.count == 0)
    }

    @Test func `a removed element has no turn`() {
        var queue = FairQueue()
        for item in 1...6 {
            queue.append(UInt64(item), host: item % 2 == 0 ? "even" : "odd")
        }
        let removals = [queue.remove(1), queue.remove(4), queue.remove(4), queue.remove(9)]
        #expect(removals == [true, true, false, false])
        #expect(drain(&queue) == [3, 2, 5, 6])
    }

    @Test func `removed elements are cleared away, many at a time`() {
        var queue = FairQueue()
        for item in 0..<100 as Range<UInt64> { queue.append(item, host: "\(item % 3)") }
        var most = 0
        for item in 100..<10_000 as Range<UInt64> {
            queue.append(item, host: "\(item % 3)")
            _ = queue.remove(item)
            most = max(most, queue.staleCount)
        }
        #expect(most == 164)
        #expect(drain(&queue).count == 100 && queue.staleCount == 0)
    }

    @Test func `it gives each item once whatever the order of events`() {
        for seed in 0..<200 {
            var random = SeededGenerator(seed: UInt64(seed))
            var queue = FairQueue()
            var model: Set<UInt64> = []
            for step in 0..<1_000 {
                switch random.next() % 4 {
                case 0, 1:
                    queue.append(UInt64(step), host: "\(random.next() % 5)")
                    model.insert(UInt64(step))
                case 2:
                    let item = random.next() % UInt64(step + 1)
                    #expect(queue.remove(item) == (model.remove(item) != nil))
                default:
                    let item = queue.popFirst()
                    #expect((item == nil) == model.isEmpty)
                    if let item {
                        #expect(model.remove(item) != nil)
                    }
                }
                #expect(queue.count == model.count)
            }
            #expect(Set(drain(&queue)) == model)
        }
    }
}
