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
            let registered = machine.cancel()
            #expect((registered != nil) == (start == .active), "\(start)")
            #expect((registered?.oldest != nil) == (start == .active), "\(start)")
            #expect(registered?.newer == nil && registered?.links.isEmpty != false, "\(start)")
            #expect(machine.cancel() == nil, "cancelled twice, \(start)")
        }
    }

    @Test func `only the first end frees what is left`() {
        for start in Start.allCases {
            var machine = start.machine()
            let registered = machine.end()
            #expect((registered == nil) == start.isEnded, "\(start)")
            #expect((registered?.oldest != nil) == (start == .active), "\(start)")
            #expect(machine.phase == .ended, "\(start)")
            _ = machine.cancel()
            #expect(machine.phase == .ended, "\(start)")
        }
    }

    @Test func `a handler is added, called now or never`() {
        for start in Start.allCases {
            var machine = start.machine()
            let token = machine.token()
            #expect(token.isCancelled == (start == .cancelled), "\(start)")
            #expect(token.register {}.isPending == (start == .active), "\(start)")
        }
    }

    @Test func `a registration is kept until the end or a cancellation, and taken back after it`() {
        for start in Start.allCases {
            var machine = start.machine()
            for _ in 0..<3 { #expect((machine.keep(link()) != nil) == (start == .active)) }
            if start == .active {
                #expect(machine.links.count == 3 && !machine.isUnobserved)
                #expect(machine.cancel()?.links.count == 3)
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
