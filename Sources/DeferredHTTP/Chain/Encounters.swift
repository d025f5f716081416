/// A loader whose copies share a state that each request is to meet once, however often a value occurs in a chain.
///
/// A request that met a ``Throttle`` again, for example, would wait for the place that it has itself. So the value that
/// comes first marks what it passes on, if the chain after it leads to the same state, and the others pass it on.
protocol StateSharing {
    var sharedState: AnyObject { get }
}

/// The shared states that an execution has met on its way.
final class Encounters: Sendable {
    private let state: ObjectIdentifier
    private let earlier: Encounters?

    init(_ state: AnyObject, after earlier: Encounters?) {
        self.state = ObjectIdentifier(state)
        self.earlier = earlier
    }

    func contain(_ state: AnyObject) -> Bool {
        self.state == ObjectIdentifier(state) || earlier?.contain(state) == true
    }
}

extension HTTPLoader {
    /// Returns true if this loader, or one after it, shares `state`.
    func leads(to state: AnyObject) -> Bool {
        (self as? any StateSharing)?.sharedState === state || successors.contains { $0.leads(to: state) }
    }
}

/// Notes in the tasks that it passes on that they have met a state.
struct Marking: HTTPLink {
    let state: any AnyObject & Sendable
    var next: (any HTTPLoader)?

    /// Returns `next`, preceded by a mark if it leads to `state` again.
    static func needed(for state: any AnyObject & Sendable, before next: (any HTTPLoader)?) -> NextLoader {
        NextLoader(next?.leads(to: state) == true ? Marking(state: state, next: next) : next)
    }

    func load(_ task: HTTPTask) {
        task.send(task.request, to: NextLoader(next), marking: state)
    }
}
