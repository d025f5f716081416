import Foundation
import Synchronization

/// Requests to be made, so many at a time.
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

    /// Whether there is another to be made.
    private func next() -> Bool {
        left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0
    }

    private func note(isSuccess: Bool) {
        if !isSuccess { failed.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Makes them with callbacks: each one's end begins the next.
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

    /// Makes them with tasks, each of which makes one after another.
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
