public import DeferredCore
internal import DeferredNetworking

/// A chain of loaders, built with `-->`.
///
/// Building it puts two things in order. Of a value of the library that occurs twice and counts or merges requests, such as
/// a ``Throttle``, only the first one counts. ``ResetGuard``, and then ``Autocancel``, come before all other loaders of the
/// library but ``Log``, so that a reset reaches every request.
///
/// A chain that can't work fails all of its requests with ``HTTPError/Code/cannotConnect`` and the
/// ``HTTPError/reason``: one without a terminal loader, and one in which a request would wait for itself.
///
/// **Thread safety:** a chain is a value, and can be used from any thread.
public struct HTTPChain: HTTPLink {
    /// One object, so that a chain is as quickly passed around as a reference.
    private final class Contents: Sendable {
        let links: [any HTTPLink]
        let terminal: (any HTTPLoader)?
        /// The first link with the rest of the chain.
        let first: any HTTPLoader
        let reset: ChainReset

        init(_ all: [any HTTPLink], _ terminal: (any HTTPLoader)?) {
            let links = Self.arranged(all)
            self.links = links
            self.terminal = terminal
            reset = ChainReset(links, terminal)
            let end = terminal ?? EndOfChain()
            first =
                Self.flaw(of: links, end).map(EndOfChain.init)
                ?? links.reversed().reduce(end) { next, link in JoinedLink(link, next) }
        }

        private static func arranged(_ all: [any HTTPLink]) -> [any HTTPLink] {
            var met: Set<ObjectIdentifier> = []
            var links = all.filter { link in
                guard let state = (link as? any ArrangedLink)?.sharedState else { return true }
                return met.insert(ObjectIdentifier(state)).inserted
            }
            // A reset has to reach the requests in each of the library's loaders.
            let place = links.firstIndex { $0 is any ArrangedLink && !($0 is ResetGuard) } ?? links.count
            let rest = links[place...]
            let guards = rest.filter { $0 is ResetGuard }
            let others = rest.filter { !($0 is ResetGuard || $0 is Autocancel) }
            links.replaceSubrange(place..., with: guards + rest.filter { $0 is Autocancel } + others)
            return links
        }

        /// Returns the reason why requests could wait for themselves.
        private static func flaw(of links: [any HTTPLink], _ end: any HTTPLoader) -> String? {
            for (index, link) in links.enumerated() {
                guard let state = (link as? any ArrangedLink)?.sharedState,
                    link is Throttle || link is RateLimit || link is Deduplicate,
                    (links[(index + 1)...].flatMap(\.successors) + [end]).contains(where: { $0.leads(to: state) })
                else { continue }
                return "a \(type(of: link)) comes again in a loader after it, where a request would wait for what it "
                    + "has itself; leave one of them out"
            }
            return nil
        }
    }

    private let contents: Contents

    init(_ link: some HTTPLink, _ next: some HTTPLoader) {
        let (before, after) = (Self.parts(of: link), Self.parts(of: next))
        contents = Contents(before.links + after.links, after.terminal)
    }

    private static func parts(of loader: any HTTPLoader) -> (links: [any HTTPLink], terminal: (any HTTPLoader)?) {
        if let chain = loader as? HTTPChain { return (chain.contents.links, chain.contents.terminal) }
        return (loader as? any HTTPLink).map { ([$0], nil) } ?? ([], loader)
    }

    /// Gives the task to the first loader.
    public func load(_ task: HTTPTask) { contents.first.load(task) }

    /// Loads the task with this chain, whose terminal loader `next` replaces.
    public func load(_ task: HTTPTask, next: any HTTPLoader) { (self --> next).load(task) }

    /// The loaders of the chain.
    public var successors: [any HTTPLoader] { contents.links + (contents.terminal.map { [$0] } ?? []) }

    /// Resets the loaders of the chain: first the links, and then the terminal loader and what links lead to.
    ///
    /// With a ``ResetGuard``, no request comes in meanwhile. With an ``Autocancel``, the requests in flight are cancelled
    /// first. With either, a reset that begins before they have ended joins that, and one that begins later follows.
    ///
    /// - Returns: A future that is filled when all of them are reset.
    public func reset() -> Future<Void> { contents.reset.reset() }
}

/// A link with the rest of its chain.
private final class JoinedLink: HTTPLoader {
    private let link: any HTTPLink
    private let next: any HTTPLoader

    init(_ link: any HTTPLink, _ next: any HTTPLoader) {
        self.link = link
        self.next = next
    }

    func load(_ task: HTTPTask) { link.load(task, next: next) }

    /// For a link that joins the rest of its chain to one of its own.
    var successors: [any HTTPLoader] { [link, next] }
}

/// Fails all tasks: those at the end of a chain without a terminal loader, and those of a chain that can't work.
struct EndOfChain: HTTPLoader {
    var reason = "the chain has no terminal loader; end it with one, such as URLSessionLoader"

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        task.complete(with: .failure(HTTPError(ofInvalidChain: reason, request: task.request)))
    }
}

/// A link of which building a chain knows more.
package protocol ArrangedLink: HTTPLink {
    /// The state of the copies of a value that each request is to meet once, however often a value occurs in a chain.
    var sharedState: AnyObject? { get }
}

extension ArrangedLink {
    package var sharedState: AnyObject? { nil }
}

extension HTTPLoader {
    /// Returns true if this loader, or one after it, has a state.
    fileprivate func leads(to state: AnyObject) -> Bool {
        (self as? any ArrangedLink)?.sharedState === state || successors.contains { $0.leads(to: state) }
    }
}
