import Dispatch
import Synchronization

/// A variable that a closure can set for the code around it.
///
/// SAFETY: used from one thread.
final class Holder<Content>: @unchecked Sendable {
    @exclusivity(unchecked)
    var content: Content?
}

/// Runs both closures at the same time, and returns when both have ended.
func onTwoThreads(_ first: @Sendable () -> Void, and second: @Sendable () -> Void) {
    let arrivals = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 2) { index in
        arrivals.add(1, ordering: .acquiringAndReleasing)
        while arrivals.load(ordering: .acquiring) < 2 {}
        if index == 0 { first() } else { second() }
    }
}

/// Makes two objects far enough apart that two threads share no cache line.
func apart<Object>(_ make: () -> Object) -> (Object, Object) {
    let objects = (0..<16).map { _ in make() }
    return (objects[0], objects[15])
}
