@testable import fetch

/// Time that passes when a test says so.
@MainActor
final class ManualTimers: Timers {
    private(set) var now = Duration.zero
    private(set) var repetitionCount = 0
    private let arrivals = AsyncQueue<Void>()
    private var waiting: [(due: Duration, body: @MainActor () -> Void)] = []

    var delays: [Duration] { waiting.map { $0.due - now } }

    func after(_ delay: Duration, _ body: @escaping @MainActor () -> Void) {
        waiting.append((now + delay, body))
        arrivals.add(())
    }

    /// Returns when `after` has been called once more.
    func untilWaiting() async {
        await arrivals.next()
    }

    func every(_ interval: Duration, _ body: @escaping @MainActor () -> Void) -> @MainActor () -> Void {
        repetitionCount += 1
        return { self.repetitionCount -= 1 }
    }

    func advance(by duration: Duration) {
        now += duration
        let due = waiting.filter { $0.due <= now }
        waiting.removeAll { $0.due <= now }
        for timer in due { timer.body() }
    }
}
