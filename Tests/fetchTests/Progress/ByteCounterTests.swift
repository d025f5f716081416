import TestSupport
import Testing

@testable import fetch

@Suite("Byte counter", .ownThread, .timeLimit(.minutes(5)))
struct ByteCounterTests {
    @Test("What was there before is received, but not fetched")
    func resuming() {
        let counter = ByteCounter()
        counter.beginAttempt()
        counter.report(received: 400, expected: 1_000)
        counter.report(received: 700, expected: 1_000)
        #expect(counter.count == ByteCounter.Count(received: 700, expected: 1_000, fetched: 300))
        counter.beginAttempt()
        counter.report(received: 700, expected: 1_000)
        counter.report(received: 1_000, expected: 1_000)
        #expect(counter.count == ByteCounter.Count(received: 1_000, expected: 1_000, fetched: 600))
    }

    @Test("A file that starts over keeps what was fetched")
    func startingOver() {
        let counter = ByteCounter()
        counter.beginAttempt()
        counter.report(received: 0, expected: nil)
        counter.report(received: 300, expected: nil)
        counter.report(received: 0, expected: 50)
        counter.report(received: 50, expected: 50)
        #expect(counter.count == ByteCounter.Count(received: 50, expected: 50, fetched: 350))
    }

    @Test("It is read while it counts, and never goes back")
    func concurrent() {
        let counter = ByteCounter()
        counter.report(received: 0, expected: nil)
        race(2) { index in
            var last: Int64 = 0
            for step in 1...10_000 as ClosedRange<Int64> {
                if index == 0 {
                    counter.report(received: step, expected: nil)
                } else {
                    let now = counter.count.fetched
                    #expect(now >= last)
                    last = now
                }
            }
        }
        #expect(counter.count.fetched == 10_000)
    }
}
