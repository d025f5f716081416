import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MembershipTests {
    enum State: CaseIterable { case permanent, waiting, submitted, taken, removing, examining, cancelled, dropped }

    enum Event: CaseIterable { case take, submit, drop, beginRemoval, endRemoval, examine, look }

    /// The result of each event (`+` for a win, `-` for a loss, `.` for nothing, `o` and `n` for a win with and without
    /// an owner), and the next state. `nil` if the event would wait for another thread, or cannot happen.
    ///
    /// `examine` finds the owner, or that it ended or went; `look` is what a registration tells: pending, cancelled, or
    /// neither.
    static let table: [State: [Event: (String, State)]] = [
        .permanent: [
            .take: ("+", .permanent), .submit: ("+", .permanent), .drop: ("+", .permanent),
            .beginRemoval: ("-", .permanent), .examine: ("ended", .permanent), .look: ("neither", .permanent),
        ],
        .waiting: [
            .take: ("+", .taken), .submit: ("+", .submitted), .drop: ("+", .dropped),
            .beginRemoval: ("o", .removing), .examine: ("o", .waiting), .look: ("pending", .waiting),
        ],
        .submitted: [
            .take: ("+", .taken), .submit: ("+", .submitted), .drop: ("+", .dropped),
            .beginRemoval: ("n", .removing), .examine: ("ended", .submitted), .look: ("pending", .submitted),
        ],
        .taken: [
            .take: ("-", .taken), .submit: ("-", .taken), .drop: ("-", .taken), .beginRemoval: ("-", .taken),
            .examine: ("ended", .taken), .look: ("neither", .taken),
        ],
        .removing: [
            .beginRemoval: ("-", .removing), .endRemoval: (".", .cancelled), .examine: ("ended", .removing),
            .look: ("cancelled", .removing),
        ],
        .examining: [.look: ("pending", .examining)],
        .cancelled: [
            .take: ("-", .cancelled), .submit: ("-", .cancelled), .drop: ("-", .cancelled),
            .beginRemoval: ("-", .cancelled), .examine: ("ended", .cancelled), .look: ("cancelled", .cancelled),
        ],
        .dropped: [
            .take: ("-", .dropped), .submit: ("-", .dropped), .drop: ("-", .dropped), .beginRemoval: ("-", .dropped),
            .examine: ("lost", .dropped), .look: ("neither", .dropped),
        ],
    ]

    @Test(arguments: State.allCases, Event.allCases)
    func `every state takes every event`(state: State, event: Event) {
        guard let (expected, next) = Self.table[state]?[event] else { return }
        let owner = FutureStorage<Int>()
        let node = HandlerNode(membership(in: state, of: owner))
        let result: String =
            switch event {
            case .take: node.membership.take() ? "+" : "-"
            case .submit: node.membership.submit() ? "+" : "-"
            case .beginRemoval:
                switch node.membership.beginRemoval() {
                case .tooLate: "-"
                case .unowned: "n"
                case .owned(let reference): reference.takeUnretainedValue() === owner ? "o" : "wrong owner"
                }
            case .endRemoval: end(of: node)
            case .drop: node.membership.drop() ? "+" : "-"
            case .examine:
                switch node.membership.examine() {
                case .waiting(let found): found === owner ? "o" : "wrong owner"
                case .ended: "ended"
                case .lost: "lost"
                }
            case .look:
                node.membership.isCancelled ? "cancelled" : node.membership.isPending ? "pending" : "neither"
            }
        #expect(result == expected)
        #expect(self.state(of: node, owner) == next)
        #expect(node.membership.isCancelled == (next == .removing || next == .cancelled))
    }

    #if DEBUG
    @Test(.enabled(if: !isThreadSanitized))
    func `who loses a handler to a cancellation goes on when that has let go of the future`() {
        let explorer = Explorer(actors: 2)
        explorer.explore {
            let node = HandlerNode(.submitted())
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

    private func end(of node: HandlerNode) -> String {
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
        case .examining: Membership(state: Membership.examiningState)
        case .cancelled: Membership(state: Membership.cancelledState)
        case .dropped: Membership(state: Membership.droppedState)
        }
    }

    private func state(of node: HandlerNode, _ owner: FutureNode) -> State? {
        switch node.membership.state.load(ordering: .relaxed) {
        case Membership.permanentState: .permanent
        case Membership.submittedState: .submitted
        case Membership.takenState: .taken
        case Membership.removingState: .removing
        case Membership.examiningState: .examining
        case Membership.cancelledState: .cancelled
        case Membership.droppedState: .dropped
        case UInt(bitPattern: Unmanaged.passUnretained(owner).toOpaque()): .waiting
        default: nil
        }
    }
}
