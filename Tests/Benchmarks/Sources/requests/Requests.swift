import Foundation
import Synchronization

/// A number of requests to make, with a limit on those in flight.
final class Requests: Sendable {
    let url: URL
    let inFlight: Int
    private let left: Atomic<Int>
    private let failed = Atomic(0)

    init(_ count: Int, to url: URL, inFlight: Int) {
        self.url = url
        self.inFlight = inFlight
        left = Atomic(count)
    }

    var failures: Int { failed.load(ordering: .relaxed) }

    /// Takes one of the requests that are left; returns false if there is none.
    private func next() -> Bool {
        left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0
    }

    private func note(isSuccess: Bool) {
        if !isSuccess { failed.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Makes the requests with callbacks: the end of each starts the next.
    func run(_ begin: @escaping @Sendable (URL, @escaping @Sendable (Bool) -> Void) -> Void) async {
        let running = Atomic(inFlight)
        await withUnsafeContinuation { (end: UnsafeContinuation<Void, Never>) in
            @Sendable func goOn() {
                guard next() else {
                    if running.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { end.resume() }
                    return
                }
                begin(url) { isSuccess in
                    self.note(isSuccess: isSuccess)
                    goOn()
                }
            }
            for _ in 0..<inFlight { goOn() }
        }
    }

    /// Makes the requests with tasks, each of which makes one after another.
    func run(_ make: @escaping @Sendable (URL) async -> Bool) async {
        await withTaskGroup { group in
            for _ in 0..<inFlight {
                group.addTask {
                    while self.next() { self.note(isSuccess: await make(self.url)) }
                }
            }
        }
    }
}
