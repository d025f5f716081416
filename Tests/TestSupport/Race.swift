import Dispatch
import Foundation
import Synchronization

/// Runs `body` on `count` threads of their own, started together, and returns when all have ended.
///
/// Real threads, unlike `concurrentPerform`, which makes no more of them than there are processors.
package func race(_ count: Int, _ body: @escaping @Sendable (_ index: Int) -> Void) {
    let group = DispatchGroup()
    let gate = Gate(count)
    for index in 0..<count {
        group.enter()
        let thread = Thread {
            gate.pass()
            body(index)
            group.leave()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }
    group.wait()
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
