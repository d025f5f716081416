import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct SlotTests {
    @Test func `values of up to three words take no allocation`() {
        #expect(Slot.fits(Void.self))
        #expect(Slot.fits((Int, Int, Int).self))
        #expect(Slot.fits(Result<[Int], any Error>.self))
        #expect(!Slot.fits((Int, Int, Int, Bool).self))
        #expect(!Slot.fits(SIMD2<UInt64>.self))
    }

    @Test func `a slot returns what was put into it, inside or outside of it`() {
        let slot = Slot()
        slot.put("a")
        #expect(slot.take(String.self) == "a")
        slot.put(["a", "b", "c", "d"].map { $0 + "!" })
        #expect(slot.take([String].self) == ["a!", "b!", "c!", "d!"])
        slot.put(SIMD8<Int>(repeating: 7))
        #expect(slot.take(SIMD8<Int>.self) == SIMD8(repeating: 7))
    }
}
