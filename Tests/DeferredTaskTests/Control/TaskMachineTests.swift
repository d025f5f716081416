import DeferredCore
import TestSupport
import Testing

@testable import DeferredTask

/// Tests every phase with every event.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskMachineTests {
    private enum Start: CaseIterable {
        case active
        case cancelled
        case ended
        case endedCancelled

        var wasCancelled: Bool { self == .cancelled || self == .endedCancelled }
        var isEnded: Bool { self == .ended || self == .endedCancelled }

        func machine(_ handler: @escaping @Sendable () -> Void = {}) -> TaskMachine {
            var machine = TaskMachine(handler)
            if wasCancelled { _ = machine.cancel() }
            if isEnded { _ = machine.end() }
            return machine
        }
    }

    private func link(_ isPending: Bool = true) -> TokenLink {
        let task = Task(Deferred<Task<Int>.Result>())
        let source = CancellationTokenSource()
        let registration = source.token.register {}
        if !isPending { registration.cancel() }
        return withExtendedLifetime(source) {
            TokenLink(registration: registration, hold: UnownedReference(TokenHold(task.handle!)))
        }
    }

    @Test func `only an active machine has something to cancel, once`() {
        for start in Start.allCases {
            var machine = start.machine()
            if case .call(nil, let oldest, let links) = machine.cancel() {
                #expect(start == .active && oldest != nil && links.isEmpty, "\(start)")
            } else {
                #expect(start != .active, "\(start)")
            }
            guard case .nothing = machine.cancel() else {
                Issue.record("cancelled twice, \(start)")
                continue
            }
        }
    }

    @Test func `only the first end frees what is left`() {
        for start in Start.allCases {
            var machine = start.machine()
            if case .free(_, let oldest, _) = machine.end() {
                #expect(!start.isEnded && (oldest != nil) == (start == .active), "\(start)")
            } else {
                #expect(start.isEnded, "\(start)")
            }
            #expect(machine.phase == .ended(wasCancelled: start.wasCancelled), "\(start)")
            _ = machine.cancel()
            #expect(machine.phase == .ended(wasCancelled: start.wasCancelled), "\(start)")
        }
    }

    @Test func `a handler is added, called now or never`() {
        for start in Start.allCases {
            var machine = start.machine()
            switch machine.register() {
            case .with: #expect(start == .active)
            case .now: #expect(start == .cancelled)
            case .never: #expect(start.isEnded)
            }
        }
    }

    @Test func `a registration is kept until the end or a cancellation, and taken back after it`() {
        for start in Start.allCases {
            var machine = start.machine()
            for _ in 0..<3 {
                if case .takeBack = machine.keep(link()) {
                    #expect(start != .active)
                } else {
                    #expect(start == .active)
                }
            }
            if start == .active {
                #expect(machine.links.count == 3 && !machine.isUnobserved)
                guard case .call(_, _, let links) = machine.cancel(), links.count == 3 else {
                    Issue.record("the registrations are lost")
                    continue
                }
            }
            #expect(machine.links.isEmpty)
        }
    }

    @Test func `registrations that have finished don't pile up`() {
        var machine = Start.active.machine()
        for _ in 0..<1_000 { _ = machine.keep(link(false)) }
        #expect(machine.links.count <= 16)
    }
}
