import TestSupport
import Testing

@testable import DeferredHTTP

/// Every state × every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPTaskStateMachineTests {
    private typealias Machine = HTTPTaskStateMachine

    private enum Event: CaseIterable {
        case cancel, complete
    }

    private struct Row {
        let start: Machine.State
        let event: Event
        let action: Machine.Action
        let end: Machine.State
    }

    private static let table = [
        Row(start: .active, event: .cancel, action: .stop, end: .cancelled),
        Row(start: .active, event: .complete, action: .deliver, end: .completed(wasCancelled: false)),
        Row(start: .cancelled, event: .cancel, action: .nothing, end: .cancelled),
        Row(start: .cancelled, event: .complete, action: .deliver, end: .completed(wasCancelled: true)),
        Row(
            start: .completed(wasCancelled: false),
            event: .cancel,
            action: .nothing,
            end: .completed(wasCancelled: false)
        ),
        Row(
            start: .completed(wasCancelled: false),
            event: .complete,
            action: .nothing,
            end: .completed(wasCancelled: false)
        ),
        Row(
            start: .completed(wasCancelled: true),
            event: .cancel,
            action: .nothing,
            end: .completed(wasCancelled: true)
        ),
        Row(
            start: .completed(wasCancelled: true),
            event: .complete,
            action: .nothing,
            end: .completed(wasCancelled: true)
        ),
    ]

    /// Events that lead to each of the states.
    private static let ways: [Machine.State: [Event]] = [
        .active: [],
        .cancelled: [.cancel],
        .completed(wasCancelled: false): [.complete],
        .completed(wasCancelled: true): [.cancel, .complete],
    ]

    @Test func `each event in each state does what the table says`() throws {
        #expect(Self.table.count == Self.ways.count * Event.allCases.count)
        for row in Self.table {
            var machine = Machine()
            for event in try #require(Self.ways[row.start]) { _ = apply(event, to: &machine) }
            #expect(machine.state == row.start)
            #expect(apply(row.event, to: &machine) == row.action, "\(row)")
            #expect(machine.state == row.end, "\(row)")
            #expect(machine.isCancelled == [.cancelled, .completed(wasCancelled: true)].contains(row.end), "\(row)")
        }
    }

    private func apply(_ event: Event, to machine: inout Machine) -> Machine.Action {
        switch event {
        case .cancel: machine.cancel()
        case .complete: machine.complete()
        }
    }
}
