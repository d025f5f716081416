/// What can be seen of a run from outside: the same of the model and of the library.
struct Seen: Equatable, Sendable {
    /// The requests that the network saw. Those of one step are in any order.
    var sent: [String] = []
    /// The exchanges that nobody needs any more: their tasks were cancelled, or completed by a loader above.
    var stopped: Set<String> = []
    /// The results of each task, of which there is to be one.
    var ends: [Int: [String]] = [:]
    /// The handlers that ``Scenario/Custom/watch`` added to a task, in the order in which they were called: those for a
    /// cancellation, those for a completion, and the closures that got the results of what was passed on.
    var cancels: [Int: [String]] = [:]
    var completions: [Int: [String]] = [:]
    var results: [Int: [String]] = [:]
    /// How many tasks each ``Scenario/Custom/hold`` keeps.
    var kept: [Int: Int] = [:]
    /// The tokens that were refused, or none, for which another one was fetched.
    var refreshes: [String] = []
    /// The bodies that were cancelled.
    var cancelledBodies: Set<String> = []
    /// How often the future of each reset was filled, and which tasks of its chain were not complete then.
    var resets: [Int: [String]] = [:]
    var terminalResets = [0, 0, 0]
    /// The lines of each ``Scenario/Loader/log``, and what the counters of throttles and of merging loaders show.
    var lines: [Int: Int] = [:]
    var waiting: [Int: Int] = [:]
    var merged: [Int: Int] = [:]
    /// The tasks that were cancelled before they ended.
    var cancelled: Set<Int> = []
    /// Anything that must never happen.
    var wrong: [String] = []

    /// Leaves out which handlers were called for a cancellation of these tasks, and when the others were.
    ///
    /// - Parameter hops: True if Swift tasks take part, so that a loader before them can go on before those behind.
    mutating func forgetOrder(of tasks: Set<Int>, hops: Bool) {
        for task in tasks { cancels[task] = nil }
        for task in hops ? Set(completions.keys) : tasks {
            completions[task]?.sort()
            results[task]?.sort()
        }
    }

    /// Returns what is different in `other`, a line for each part.
    func differences(to other: Seen) -> [String] {
        let (here, there) = (Mirror(reflecting: self).children, Mirror(reflecting: other).children)
        return zip(here, there).compactMap { one, two in
            let (expected, found) = (Self.text(one.value), Self.text(two.value))
            return expected == found ? nil : "\(one.label ?? ""): expected \(expected)\n    found \(found)"
        }
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let value as [Int: [String]]:
            value.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ")
        case let value as [Int: Int]: value.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ")
        case let value as Set<String>: "\(value.sorted())"
        case let value as Set<Int>: "\(value.sorted())"
        default: "\(value)"
        }
    }
}

/// The name of an exchange with the network: the number of the request, and how many it sent before.
struct ExchangeName: Hashable, Comparable, Sendable, CustomStringConvertible {
    var ask: Int
    var number: Int

    var description: String { "\(ask).\(number)" }

    static func < (one: Self, other: Self) -> Bool { (one.ask, one.number) < (other.ask, other.number) }
}

/// A step of which it is clear what it does, so that the library and the model do the same.
enum Action: Sendable {
    case load(Int)
    case deed(Scenario.Deed)
    case answer(ExchangeName, Scenario.Outcome)
    case endReset(terminal: Int)
    case endRefresh(Int, succeeds: Bool)
    case letGo(value: Int)
    case advance(microseconds: Int)
    case endBody(ExchangeName, Scenario.BodyEnd, ask: Int)
}
