public import DeferredCore

/// A loader that passes tasks on to the next one in its chain. See ``HTTPLoader`` for an example.
///
/// A link is a value. Those that keep something, such as a count or a token, share it among their copies: one value in two
/// chains has one count or token for both.
public protocol HTTPLink: HTTPLoader {
    /// The next loader, set by `-->`; `nil` at the end of a chain without a terminal loader.
    var next: (any HTTPLoader)? { get set }
}

extension HTTPLink {
    /// Resets the next loader.
    public func reset() -> Future<Void> { next?.reset() ?? Future(value: ()) }

    /// This chain, followed by `loader`. A terminal loader that it has is replaced.
    func followed(by loader: any HTTPLoader) -> Self {
        var copy = self
        if let link = next as? any HTTPLink {
            copy.next = link.followed(by: loader)
        } else {
            copy.next = loader
        }
        return copy
    }
}

/// Orders chains from right to left: `a --> b --> c` is `a --> (b --> c)`.
precedencegroup HTTPChainPrecedence {
    associativity: right
    lowerThan: AdditionPrecedence
    higherThan: AssignmentPrecedence
}

infix operator --> : HTTPChainPrecedence

/// A chain in which `link` passes on to `next`.
///
/// If `link` is a chain already, `next` comes to its end, in the place of a terminal loader that it has. So a test can
/// have the chain of a program end in a ``DeferredTesting/StubLoader``.
///
/// ```swift
/// let chain = Retry() --> Throttle(maximum: 8) --> URLSessionLoader()
/// let tested = chain --> StubLoader(.response(503), .response(200))
/// ```
public func --> <Link: HTTPLink>(link: Link, next: some HTTPLoader) -> Link {
    link.followed(by: next)
}
