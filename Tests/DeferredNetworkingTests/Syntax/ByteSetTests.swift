import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ByteSetTests {
    @Test(arguments: [
        ByteSet(" 0?@Az\u{7F}"), ByteSet("0@").union(" ?Az\u{7F}"), ByteSet(" 01?@Abz\u{7F}").subtracting("1b"),
    ])
    func `a set has the bytes of its text, and no others`(set: ByteSet) {
        let expected = Set(" 0?@Az\u{7F}".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(set.contains(byte) == expected.contains(byte))
            #expect(byte >= 0x80 || set.containsAll(of: String(UnicodeScalar(byte))) == expected.contains(byte))
        }
        #expect(set.containsAll(of: "") && !set.containsAll(of: "é") && !set.containsAll(of: "0b"))
    }
}
