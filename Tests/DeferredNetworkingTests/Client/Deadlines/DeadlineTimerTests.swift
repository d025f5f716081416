import DeferredCore
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Deadline heap", .ownThread, .timeLimit(.minutes(5)))
struct DeadlineHeapTests {
    @Test func `what is due comes out, the earliest first`() {
        var heap = DeadlineHeap()
        for (identifier, time) in [(1, 50), (2, 10), (3, 30), (4, 20), (5, 40)] {
            heap.insert(UInt64(identifier), at: UInt64(time))
        }
        #expect(heap.earliest() == 10)
        #expect(heap.popDue(at: 9) == [])
        #expect(heap.popDue(at: 30) == [2, 4, 3])
        heap.remove(5)
        #expect(heap.earliest() == 50)
        #expect(heap.popDue(at: .max) == [1])
        #expect(heap.earliest() == nil)
    }

    @Test func `it agrees with a sorted list`() {
        for seed in 0..<100 {
            var random = SeededGenerator(seed: UInt64(seed))
            var heap = DeadlineHeap()
            var model: [UInt64: UInt64] = [:]
            for identifier in 0..<UInt64(1_000) {
                switch random.next() % 8 {
                case 0:
                    let now = random.next() % 1_000
                    let due = heap.popDue(at: now)
                    #expect(Set(due) == Set(model.filter { $0.value <= now }.keys))
                    #expect(due.compactMap { model[$0] } == due.compactMap { model[$0] }.sorted())
                    model = model.filter { $0.value > now }
                case 1...4:
                    let gone = random.next() % (identifier + 1)
                    heap.remove(gone)
                    model[gone] = nil
                default:
                    let time = random.next() % 1_000
                    heap.insert(identifier, at: time)
                    model[identifier] = time
                }
                #expect(heap.earliest() == model.values.min())
            }
        }
    }
}

@Suite("Deadline timer", .ownThread, .timeLimit(.minutes(5)))
struct DeadlineTimerTests {
    @Test func `bodies run at their times, and cancelled ones don't`() async {
        let timer = DeadlineTimer.shared
        let start = DeadlineTimer.now
        let late = timer.schedule(at: start + 1_000_000_000) { Issue.record("a cancelled body ran") }
        timer.cancel(late)
        // Bodies that have become due together run at the same time: only their own times say something.
        let delays: [UInt64] = [1_010_000_000, 20_000_000, 55_000_000]
        let times = delays.map { delay in
            let time = Deferred<UInt64>()
            _ = timer.schedule(at: start + delay) { time.fill(with: DeadlineTimer.now) }
            return time
        }
        for (time, delay) in zip(times, delays) { #expect(await time.value >= start + delay) }
    }

    @Test func `a cancelled body is freed at once`() {
        let lifetimes = Lifetimes()
        let identifier = {
            let token = lifetimes.make()
            return DeadlineTimer.shared.schedule(at: .max) { token.touch() }
        }()
        #expect(lifetimes.count == 1)
        DeadlineTimer.shared.cancel(identifier)
        #expect(lifetimes.count == 0)
    }

    @Test func `durations of any size have a time`() {
        #expect(DeadlineTimer.time(.milliseconds(1), after: 5) == 1_000_005)
        #expect(DeadlineTimer.time(.seconds(-5), after: 5) == 5)
        #expect(DeadlineTimer.time(.seconds(Int64.max), after: 5) == .max)
        #expect(DeadlineTimer.time(.nanoseconds(-1), after: 5) == 5)
    }
}
