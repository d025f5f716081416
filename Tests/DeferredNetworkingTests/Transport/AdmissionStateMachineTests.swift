import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Admission state machine", .ownThread, .timeLimit(.minutes(1)))
struct AdmissionStateMachineTests {
    typealias Action = AdmissionStateMachine.Action

    @Test func `without a limit everything starts at once`() {
        var machine = AdmissionStateMachine(limit: nil)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.arrived(2, origin: "a") == .start(2))
        #expect(machine.left(1) == nil)
    }

    @Test(arguments: [1, 0, -5])
    func `with a limit the next starts when one leaves`(limit: Int) {
        var machine = AdmissionStateMachine(limit: limit)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.arrived(2, origin: "a") == nil)
        #expect(machine.arrived(3, origin: "a") == nil)
        // A waiting request that leaves makes no room.
        #expect(machine.left(2) == nil)
        #expect(machine.left(1) == .start(3))
        #expect(machine.left(3) == nil)
        #expect(machine.arrived(4, origin: "a") == .start(4))
    }

    @Test func `an idle client closes at once`() {
        var machine = AdmissionStateMachine(limit: nil)
        #expect(machine.close() == .invalidate)
        #expect(machine.close() == nil)
        #expect(machine.arrived(1, origin: "a") == .refuse(1))
        #expect(machine.retainCount == 0)
    }

    @Test func `a busy client closes when all of it has ended and nobody retains it`() {
        var machine = AdmissionStateMachine(limit: 1)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.arrived(2, origin: "a") == nil)
        #expect(machine.retainCount == 1)
        #expect(machine.close() == nil)
        #expect(machine.state == .closing)
        #expect(machine.arrived(3, origin: "a") == .refuse(3))
        #expect(machine.left(1) == .start(2))
        #expect(machine.retainCount == 2)
        #expect(machine.released() == nil)
        #expect(machine.left(2) == nil)
        #expect(machine.released() == .invalidate)
        #expect(machine.state == .closed)
    }

    @Test func `work to finish lets requests in while a client closes`() {
        var machine = AdmissionStateMachine(limit: nil)
        machine.workBegan()
        machine.workBegan()
        #expect(machine.close() == nil)
        #expect(machine.workEnded() == nil)
        #expect(machine.state == .finishing)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.close() == nil)
        #expect(machine.workEnded() == nil)
        #expect(machine.arrived(2, origin: "a") == .refuse(2))
        #expect(machine.left(1) == nil)
        #expect(machine.released() == .invalidate)
        var other = AdmissionStateMachine(limit: nil)
        other.workBegan()
        #expect(other.workEnded() == nil)
        #expect(other.state == .open)
        other.workBegan()
        #expect(other.close() == nil)
        #expect(other.close(finishesWork: false) == .invalidate)
        #expect(other.workEnded() == nil)
    }

    @Test func `one that pauses makes room, and goes before those that have not begun`() {
        var machine = AdmissionStateMachine(limit: 1)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.arrived(2, origin: "a") == nil)
        #expect(machine.arrived(3, origin: "a") == nil)
        #expect(machine.steppedAside(1) == .start(2))
        #expect(machine.cameBack(1) == nil)
        #expect(machine.left(2) == .start(1))
        #expect(machine.steppedAside(1) == .start(3))
        #expect(machine.left(3) == nil)
        #expect(machine.cameBack(1) == .start(1))
        #expect(machine.cameBack(1) == nil)
    }

    @Test func `one that leaves in its pause, or after it, gives no place away`() {
        var machine = AdmissionStateMachine(limit: 1)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.arrived(2, origin: "a") == nil)
        #expect(machine.steppedAside(1) == .start(2))
        #expect(machine.arrived(3, origin: "a") == nil)
        #expect(machine.left(1) == nil)
        #expect(machine.cameBack(1) == nil)
        #expect(machine.steppedAside(2) == .start(3))
        #expect(machine.cameBack(2) == nil)
        #expect(machine.left(2) == nil)
        #expect(machine.left(3) == nil)
    }

    @Test func `a client lives until its pausing requests have ended`() {
        var machine = AdmissionStateMachine(limit: 1)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.steppedAside(1) == nil)
        #expect(machine.released() == nil)
        #expect(machine.close() == nil)
        #expect(machine.cameBack(1) == .start(1))
        #expect(machine.released() == nil)
        #expect(machine.left(1) == .invalidate)
    }

    @Test func `an open client stays open when the last reference comes back`() {
        var machine = AdmissionStateMachine(limit: nil)
        #expect(machine.arrived(1, origin: "a") == .start(1))
        #expect(machine.left(1) == nil)
        #expect(machine.released() == nil)
        #expect(machine.state == .open)
    }
}
