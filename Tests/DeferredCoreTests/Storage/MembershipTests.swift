import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MembershipTests {
    enum State: CaseIterable { case permanent, waiting, submitted, taken, removing, cancelled }

    enum Event: CaseIterable { case take, submit, beginRemoval, endRemoval, giveUp }

    /// The result of each event (`+` for a win, `-` for a loss, `.` for nothing, `o` and `n` for a win with and without
    /// an owner), and the next state. `nil` if the event would wait for another thread, or cannot happen.
    static let table: [State: [Event: (String, State)]] = [
        .permanent: [
            .take: ("+", .permanent), .submit: ("+", .permanent), .beginRemoval: ("-", .permanent),
            .giveUp: (".", .permanent),
        ],
        .waiting: [.take: ("+", .taken), .submit: ("+", .submitted), .beginRemoval: ("o", .removing)],
        .submitted: [.take: ("+", .taken), .submit: ("+", .submitted), .beginRemoval: ("n", .removing)],
        .taken: [
            .take: ("-", .taken), .submit: ("-", .taken), .beginRemoval: ("-", .taken), .giveUp: (".", .cancelled),
        ],
        .removing: [.beginRemoval: ("-", .removing), .endRemoval: (".", .cancelled)],
        .cancelled: [.take: ("-", .cancelled), .submit: ("-", .cancelled), .beginRemoval: ("-", .cancelled)],
    ]

    @Test(arguments: State.allCases, Event.allCases)
    func `every state takes every event`(state: State, event: Event) {
        guard let (expected, next) = Self.table[state]?[event] else { return }
        let owner = FutureStorage<Int>()
        let node = FutureNode(membership(in: state, of: owner))
        let result: String =
            switch event {
            case .take: node.membership.take() ? "+" : "-"
            case .submit: node.membership.submit() ? "+" : "-"
            case .beginRemoval:
                switch node.membership.beginRemoval() {
                case .none: "-"
                case .some(.none): "n"
                case .some(.some(let reference)): reference.takeUnretainedValue() === owner ? "o" : "wrong owner"
                }
            case .endRemoval: end(of: node)
            case .giveUp: giveUp(node)
            }
        #expect(result == expected)
        #expect(self.state(of: node, owner) == next)
        #expect(node.isCancelled == (next == .removing || next == .cancelled))
    }

    #if DEBUG
    @Test(.enabled(if: !isThreadSanitized))
    func `who loses a handler to a cancellation goes on when that has let go of the future`() {
        let explorer = Explorer(actors: 2)
        explorer.explore {
            let node = FutureNode(.submitted())
            let losses = Log<UInt>()
            return Explorer.Run(
                actors: [
                    { node.cancel() },
                    { if !node.membership.take() { losses.add(node.membership.state.load(ordering: .relaxed)) } },
                ],
                end: { losses.entries.contains(Membership.removingState) ? "the future is still in use" : nil }
            )
        }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings > 3)
    }
    #endif

    private func giveUp(_ node: FutureNode) -> String {
        node.membership.giveUp()
        return "."
    }

    private func end(of node: FutureNode) -> String {
        node.membership.endRemoval()
        return "."
    }

    private func membership(in state: State, of owner: FutureNode) -> Membership {
        switch state {
        case .permanent: .permanent()
        case .waiting: .waiting(for: owner)
        case .submitted: .submitted()
        case .taken: Membership(state: Membership.takenState)
        case .removing: Membership(state: Membership.removingState)
        case .cancelled: Membership(state: Membership.cancelledState)
        }
    }

    private func state(of node: FutureNode, _ owner: FutureNode) -> State? {
        switch node.membership.state.load(ordering: .relaxed) {
        case Membership.permanentState: .permanent
        case Membership.submittedState: .submitted
        case Membership.takenState: .taken
        case Membership.removingState: .removing
        case Membership.cancelledState: .cancelled
        case UInt(bitPattern: Unmanaged.passUnretained(owner).toOpaque()): .waiting
        default: nil
        }
    }
}
