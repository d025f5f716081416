import Synchronization

/// Counts the objects made by `make()` that are still alive.
package final class Lifetimes: Sendable {
    private let alive = Atomic(0)

    package init() {}

    package var count: Int { alive.load(ordering: .acquiring) }

    package func make() -> Token { Token(self) }

    /// An object for closures to capture.
    package final class Token: Sendable {
        private let lifetimes: Lifetimes

        fileprivate init(_ lifetimes: Lifetimes) {
            self.lifetimes = lifetimes
            lifetimes.alive.add(1, ordering: .relaxed)
        }

        deinit {
            lifetimes.alive.subtract(1, ordering: .releasing)
        }

        /// Does nothing; a call makes a closure capture the token.
        package func touch() {}
    }
}
