import Dispatch
import Foundation
import Synchronization
import Testing

/// Runs `body` on `count` threads of their own, started together, and returns when all have ended.
///
/// Real threads, unlike `concurrentPerform`, which makes no more of them than there are processors. It blocks the caller,
/// whose suite therefore has the trait `.ownThread`.
package func race(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    // In the process of an exit test there is no trait, and nothing else.
    if Test.current != nil && !isTestThread { Issue.record("race() blocks a thread; the suite needs .ownThread") }
    let group = DispatchGroup()
    let gate = Gate(count)
    for index in 0..<count {
        group.enter()
        startThread {
            gate.pass()
            body(index)
            group.leave()
        }
    }
    group.wait()
}

/// Runs `body` on a thread of its own, with a stack of so many bytes, and returns what it returns.
///
/// For what depends on the size of the stack. Checks belong behind it: on that thread they belong to no test.
package func onThread<Result: Sendable>(
    stackSize: Int = 1 << 20,
    _ body: @escaping @Sendable () -> Result
) async -> Result {
    await withCheckedContinuation { continuation in
        startThread(stackSize: stackSize) { continuation.resume(returning: body()) }
    }
}

/// Lets threads go on only when all of them have come; any number of times.
package final class Gate: Sendable {
    private let count: Int
    private let arrivals = Atomic(0)

    package init(_ count: Int) {
        self.count = count
    }

    package func pass() {
        let round = arrivals.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue / count
        var spins = 0
        while arrivals.load(ordering: .acquiring) < (round + 1) * count {
            spins += 1
            if spins > 100 { sched_yield() }
        }
    }
}
