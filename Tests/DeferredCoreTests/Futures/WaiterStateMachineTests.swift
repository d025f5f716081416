import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct WaiterStateMachineTests {
    private enum Event: CaseIterable { case suspend, register, fill, cancel }

    /// Every possible order of events, with its outcome: the continuation is resumed with the value (`v`), with a
    /// cancellation (`c`), or not (`-`), and the registration is cancelled (`r`).
    @Test(
        arguments: [
            ([.suspend, .register, .fill], ["-", "-", "v"]),
            ([.suspend, .register, .cancel], ["-", "-", "cr"]),
            ([.suspend, .register, .fill, .cancel], ["-", "-", "v", "-"]),
            ([.suspend, .register, .cancel, .fill], ["-", "-", "cr", "-"]),
            ([.suspend, .fill, .register], ["-", "v", "r"]),
            ([.suspend, .fill, .register, .cancel], ["-", "v", "r", "-"]),
            ([.suspend, .fill, .cancel, .register], ["-", "v", "-", "r"]),
            ([.suspend, .cancel, .register], ["-", "c", "r"]),
            ([.suspend, .cancel, .register, .fill], ["-", "c", "r", "-"]),
            ([.suspend, .cancel, .fill, .register], ["-", "c", "-", "r"]),
            ([.cancel, .suspend, .register], ["-", "c", "r"]),
            ([.cancel, .suspend, .register, .fill], ["-", "c", "r", "-"]),
            ([.cancel, .suspend, .fill, .register], ["-", "c", "-", "r"]),
        ] as [([Event], [String])]
    )
    private func `each order of events resumes once`(events: [Event], expected: [String]) async {
        let deferred = Deferred<Int>()
        var machine = WaiterStateMachine<Int>()
        var outcomes: [String] = []
        let value: Int? = await withUnsafeContinuation { continuation in
            for event in events {
                let action =
                    switch event {
                    case .suspend: machine.suspend(continuation)
                    case .register: machine.register(deferred.upon(.immediate) { _ in })
                    case .fill: machine.resume(with: 1)
                    case .cancel: machine.resume(with: nil)
                    }
                var outcome = ""
                if let (_, value) = action.resumption { outcome += value == nil ? "c" : "v" }
                if action.registration != nil { outcome += "r" }
                outcomes.append(outcome.isEmpty ? "-" : outcome)
                action.resumption?.0.resume(returning: action.resumption?.1)
            }
        }
        #expect(outcomes == expected)
        #expect(value == (expected.contains("v") ? 1 : nil))
    }

    #if os(macOS) || os(Linux)
    @Test func `events that cannot happen trap`() async {
        await #expect(processExitsWith: .failure) {
            var machine = WaiterStateMachine<Int>()
            _ = machine.register(Deferred<Int>().upon(.immediate) { _ in })
        }
        await #expect(processExitsWith: .failure) {
            var machine = WaiterStateMachine<Int>()
            _ = machine.resume(with: nil)
            _ = machine.register(Deferred<Int>().upon(.immediate) { _ in })
        }
    }
    #endif
}
