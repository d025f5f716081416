import Dispatch
import Foundation
import Synchronization
import Testing

/// Runs `body` on `count` separate threads, started together, and returns when all have ended.
///
/// These are real threads, unlike those of `concurrentPerform`, which are limited to the number of processors. The
/// function blocks the caller, whose suite therefore has the trait `.ownThread`.
package func race(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    // The process of an exit test has no such trait, and runs nothing else.
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

/// Runs `body` on a separate thread with a stack of `stackSize` bytes, and returns its result.
///
/// For code that depends on the size of the stack. Check the result on the test's own thread: an expectation that fails
/// on the other one is not attributed to the test.
package func onThread<Result: Sendable>(
    stackSize: Int = 1 << 20,
    _ body: @escaping @Sendable () -> Result
) async -> Result {
    await withCheckedContinuation { continuation in
        startThread(stackSize: stackSize) { continuation.resume(returning: body()) }
    }
}

/// A reusable barrier: lets threads go on once `count` of them have arrived.
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
