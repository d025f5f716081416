/// A loader that passes tasks on to the next one in its chain. See ``HTTPLoader`` for an example.
///
/// A link stores nothing of its chain. So one link, a value or an object, can be in any number of chains, and twice in one.
/// Links with state, such as a count or a token, share it among their copies: one value in two chains has one count or
/// token for both. A link of your own that is twice in one chain gets each request twice.
public protocol HTTPLink: HTTPLoader {
    /// Takes over a task: completes it, now or later, or passes it on. Must not block.
    ///
    /// - Parameters:
    ///   - task: The task. See ``HTTPTask/pass(to:)`` and ``HTTPTask/pass(_:to:completion:)``.
    ///   - next: The rest of the chain, which may be kept as long as the task.
    func load(_ task: HTTPTask, next: any HTTPLoader)
}

extension HTTPLink {
    /// Loads a task as a chain of this link alone, which has no terminal loader.
    public func load(_ task: HTTPTask) { load(task, next: EndOfChain()) }
}

/// Orders chains from right to left: `a --> b --> c` is `a --> (b --> c)`.
///
/// Between `??` and `? :`, so that `test ? a --> b : c --> d` and `a --> b ?? c` need no parentheses.
precedencegroup HTTPChainPrecedence {
    associativity: right
    lowerThan: NilCoalescingPrecedence
    higherThan: TernaryPrecedence
}

infix operator --> : HTTPChainPrecedence

/// Returns a chain in which `link` passes tasks on to `next`.
///
/// If `link` is a chain already, `next` is added at its end, in place of its terminal loader if it has one. So a test
/// can end a program's chain in a ``DeferredTesting/StubLoader``.
///
/// ```swift
/// let chain = Retry() --> Throttle(maximum: 8) --> URLSessionLoader()
/// let tested = chain --> StubLoader(.response(503), .response(200))
/// ```
public func --> (link: some HTTPLink, next: some HTTPLoader) -> HTTPChain {
    HTTPChain(link, next)
}
