internal import DeferredCore

/// A loader that passes tasks on to the next one in its chain. See ``HTTPLoader`` for an example.
///
/// A link is a value. Links with state, such as a count or a token, share it among their copies: one value in two
/// chains has one count or token for both. An object can be a link, too; it then leaves ``next`` as `nil`, since it
/// would be the same in all of its chains, and relies on ``HTTPTask/pass(to:)`` to find the next loader. Join it where
/// its type is known: as an `any HTTPLink`, or in code that is generic over the type of the link, `-->` can't wrap the
/// object, and the requests of the chain fail with ``HTTPError/Code/cannotConnect`` and ``MisjoinedObject`` as the cause.
public protocol HTTPLink: HTTPLoader {
    /// The next loader, set by `-->`; `nil` at the end of a chain without a terminal loader.
    var next: (any HTTPLoader)? { get set }
}

extension HTTPLink {
    /// The next loader.
    public var successors: [any HTTPLoader] { next.map { [$0] } ?? [] }

    /// Returns this chain, followed by `loader`, which replaces the chain's terminal loader if it has one.
    func followed(by loader: any HTTPLoader) -> Self {
        var copy = self
        if Self.self is AnyClass {
            // The copy is the object itself, and may be in other chains.
            copy.next = Refusal(cause: MisjoinedObject(type: Self.self))
        } else if let link = next as? any HTTPLink {
            copy.next = type(of: link) is AnyClass ? ObjectLink(link, loader) : link.followed(by: loader)
        } else {
            copy.next = loader
        }
        return copy
    }
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
public func --> <Link: HTTPLink>(link: Link, next: some HTTPLoader) -> Link {
    link.followed(by: next)
}

/// Returns a chain in which `link`, an object, passes tasks on to `next`. In another chain, the same object can pass
/// tasks on to another loader.
public func --> <Object: HTTPLink & AnyObject>(link: Object, next: some HTTPLoader) -> some HTTPLink {
    ObjectLink(link, next)
}

/// The underlying error of a request in a chain with an object that was joined where its type wasn't known. See
/// ``HTTPLink``.
public struct MisjoinedObject: DisplayableError {
    /// The type of the object.
    public let type: any HTTPLink.Type

    /// One line for a log.
    public var description: String {
        "\(type) is an object, and was joined where its type isn't known, so that all its chains would share the next "
            + "loader; join it where its type is known, or make it a struct"
    }
}

/// Fails all tasks of a chain that can't work.
private struct Refusal: HTTPLoader {
    let cause: any Error

    func load(_ task: HTTPTask) {
        if !task.failIfCancelled() { task.fail(.cannotConnect, underlying: cause) }
    }
}

/// Wraps an object in a chain, since the object itself can't store a different next loader for each of its chains.
private struct ObjectLink: HTTPLink {
    let link: any HTTPLink
    var next: (any HTTPLoader)?

    init(_ link: any HTTPLink, _ next: any HTTPLoader) {
        self.link = link
        self.next = next
    }

    var successors: [any HTTPLoader] { link.successors + (next.map { [$0] } ?? []) }

    func load(_ task: HTTPTask) {
        task.execution.setContinuation(next)
        link.load(task)
    }

    func reset() -> Future<Void> {
        link.reset().flatMap { _ in next?.reset() ?? Future(value: ()) }
    }
}
