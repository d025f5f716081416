import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct RawStorageTests {
    @Test func `values of up to three words take no allocation`() {
        #expect(RawStorage.fits(Void.self))
        #expect(RawStorage.fits((Int, Int, Int).self))
        #expect(RawStorage.fits(Result<[Int], any Error>.self))
        #expect(!RawStorage.fits((Int, Int, Int, Bool).self))
        #expect(!RawStorage.fits(SIMD2<UInt64>.self))
    }

    @Test func `raw storage returns what was put into it, inline or not`() {
        let storage = RawStorage()
        storage.put("a")
        #expect(storage.take(String.self) == "a")
        storage.put(["a", "b", "c", "d"].map { $0 + "!" })
        #expect(storage.take([String].self) == ["a!", "b!", "c!", "d!"])
        storage.put(SIMD8<Int>(repeating: 7))
        #expect(storage.take(SIMD8<Int>.self) == SIMD8(repeating: 7))
    }
}
