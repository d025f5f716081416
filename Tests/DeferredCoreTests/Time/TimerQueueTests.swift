import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TimerQueueTests {
    @discardableResult
    private func add(
        to queue: TimerQueue,
        at deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable () -> Void
    ) -> Registration {
        let timer = QueuedTimer(.submitted(), in: queue, at: deadline, body)
        queue.add(timer)
        return Registration(timer)
    }

    @Test func `closures run at their times, and cancelled ones don't`() async {
        let (order, last, queue) = (Log<Int>(), Deferred<Void>(), TimerQueue())
        let start = ContinuousClock.now
        let late = add(to: queue, at: start + .milliseconds(60)) { order.add(0) }
        add(to: queue, at: start + .milliseconds(90)) {
            order.add(3)
            last.fill()
        }
        add(to: queue, at: start + .milliseconds(20)) { order.add(1) }
        add(to: queue, at: start + .milliseconds(55)) { order.add(2) }
        late.cancel()
        await last.value
        #expect(order.entries == [1, 2, 3])
        #expect(ContinuousClock.now >= start + .milliseconds(90))
        #expect(queue.count == 0)
    }

    @Test(arguments: TimerQueue.Alarm.allCases)
    func `either alarm suffices`(_ alarm: TimerQueue.Alarm) async {
        let queue = TimerQueue([alarm])
        for pause in [Duration.nanoseconds(1), .milliseconds(3), .milliseconds(1)] {
            let called = Deferred<Void>()
            let deadline = ContinuousClock.now + pause
            add(to: queue, at: deadline) { called.fill() }
            await called.value
            #expect(ContinuousClock.now >= deadline)
        }
    }

    @Test func `after the machine has slept, the first alarm finds all that the continuous clock says is due`() async {
        let start = ContinuousClock.now
        let slept = Atomic(false)
        let queue = TimerQueue { slept.load(ordering: .acquiring) ? start + .seconds(7_200) : start }
        let (inTime, late) = (Deferred<Void>(), Deferred<Void>())
        add(to: queue, at: start + .seconds(3_600)) { inTime.fill() }
        add(to: queue, at: start + .seconds(10_000)) { late.fill() }
        queue.wake()
        #expect(queue.count == 2)
        slept.store(true, ordering: .releasing)
        queue.wake()
        await inTime.value
        #expect(queue.count == 1 && !late.isFilled)
    }

    @Test func `an alarm that comes too early is set again`() async {
        let start = ContinuousClock.now
        let calls = Atomic(0)
        // The first times that the clock is read, no time has passed.
        let queue = TimerQueue {
            calls.add(1, ordering: .relaxed).newValue < 4 ? start : start + .milliseconds(1)
        }
        let called = Deferred<Void>()
        add(to: queue, at: start + .milliseconds(1)) { called.fill() }
        await called.value
        #expect(queue.count == 0)
    }

    @Test func `a cancelled closure is freed at once, outside of the lock`() {
        let (queue, lifetimes) = (TimerQueue(), Lifetimes())
        let registration = add(to: queue, at: .now + .seconds(3_600)) { [token = lifetimes.make()] in token.touch() }
        #expect(lifetimes.count == 1 && queue.count == 1)
        registration.cancel()
        #expect(lifetimes.count == 0 && queue.count == 0)
        #expect(registration.isCancelled)

        // Releasing a closure cancels another timer.
        let other = add(to: queue, at: .now + .seconds(3_600)) {}
        let canceller = Canceller(other)
        let nested = add(to: queue, at: .now + .seconds(3_600)) { [canceller] in withExtendedLifetime(canceller) {} }
        nested.cancel()
        withExtendedLifetime(canceller) {}
        #expect(nested.isCancelled)
    }

    @Test func `a thousand timers for each of 4 threads: each closure runs once or never, as its registration says`()
        async
    {
        let (queue, lifetimes) = (TimerQueue(), Lifetimes())
        let slots = (0..<4).map { _ in (0..<1_000).map { _ in Slot() } }
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                race(4) { thread in
                    var random = SeededGenerator(seed: UInt64(thread))
                    for slot in slots[thread] {
                        let deadline = start + .microseconds(Int.random(in: 0..<20_000, using: &random))
                        let registration = add(to: queue, at: deadline) { [token = lifetimes.make()] in
                            token.touch()
                            slot.calls.add(1, ordering: .relaxed)
                        }
                        slot.registration.withLock { $0 = registration }
                        if Bool.random(using: &random) { registration.cancel() }
                        let earlier = slots[thread].randomElement(using: &random)
                        earlier?.registration.withLock { $0 }?.cancel()
                    }
                }
                continuation.resume()
            }
        }
        // Closures may still run, but none waits any longer than its deadline.
        while lifetimes.count > 0 { await Task.yield() }
        #expect(queue.count == 0)
        for slot in slots.joined() {
            let isCancelled = slot.registration.withLock { $0 }?.isCancelled
            #expect(slot.calls.load(ordering: .relaxed) == (isCancelled == true ? 0 : 1))
        }
    }

    @Test func `a queue goes when nothing waits in it any longer`() {
        weak var queue: TimerQueue?
        let registration: Registration
        do {
            let new = TimerQueue()
            registration = add(to: new, at: .now + .seconds(3_600)) {}
            queue = new
        }
        #expect(queue != nil)
        registration.cancel()
        withExtendedLifetime(registration) { #expect(queue?.count ?? 0 == 0) }
    }
}

private final class Canceller: Sendable {
    private let registration: Registration

    init(_ registration: Registration) {
        self.registration = registration
    }

    deinit { registration.cancel() }
}

private final class Slot: Sendable {
    let registration = Lock<Registration?>(nil)
    let calls = Atomic(0)
}
