import Dispatch
import Synchronization

/// What a closure leaves behind for the code around it.
///
/// SAFETY: used from one thread.
final class Holder<Content>: @unchecked Sendable {
    @exclusivity(unchecked)
    var content: Content?
}

/// Runs both at once, and returns when both have ended.
func onTwoThreads(_ first: @Sendable () -> Void, and second: @Sendable () -> Void) {
    let arrivals = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: 2) { index in
        arrivals.add(1, ordering: .acquiringAndReleasing)
        while arrivals.load(ordering: .acquiring) < 2 {}
        if index == 0 { first() } else { second() }
    }
}

/// Two objects far enough from each other for two threads to share no cache line.
func apart<Object>(_ make: () -> Object) -> (Object, Object) {
    let objects = (0..<16).map { _ in make() }
    return (objects[0], objects[15])
}
