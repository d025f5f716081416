import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HeadFileTests {
    @Test func `a head is read as it was written`() throws {
        let head = try #require(
            RulesTable.stored("200; ETag: \"ä\"; Vary: A; Age: 3; B: 1; B: 2", to: "GET; A: 1", delay: 2)
        )
        let stored = HeadFile.Stored(head: head, version: 7, checksums: [1, .max])
        let bytes = HeadFile(key: "http://host:80/ä", variants: [stored, stored]).bytes(process: 5)
        let file = try #require(HeadFile(bytes, process: 5))
        #expect(file.key == "http://host:80/ä" && file.variants.count == 2)
        let read = try #require(file.variants.last)
        #expect(read.version == 7 && read.checksums == [1, .max])
        #expect(read.head.status == head.status && read.head.headers == head.headers)
        #expect(read.head.variant == head.variant && read.head.extent == head.extent && read.head.ageValue == 3)
        #expect(read.head.requestTime == head.requestTime && read.head.responseTime == head.responseTime)
        #expect(read.head.initialAge == head.initialAge && read.head.etag == head.etag)
        // Another process has another steady clock.
        #expect(HeadFile(bytes, process: 6)?.variants.last?.head.requestTime.steady == nil)
    }

    @Test func `a head that differs in any bit, is cut or longer, is none`() throws {
        let head = try #require(RulesTable.stored("200; ETag: \"a\"; Vary: A", to: "GET; A: 1"))
        let stored = HeadFile.Stored(head: head, version: 7, checksums: [1])
        let bytes = HeadFile(key: "http://host:80/", variants: [stored]).bytes(process: 5)
        #expect(HeadFile(bytes, process: 5) != nil && HeadFile(bytes + [0], process: 5) == nil)
        var wrong = 0
        for index in bytes.indices {
            if HeadFile(bytes.prefix(index), process: 5) != nil { wrong += 1 }
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                if HeadFile(changed, process: 5) != nil { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test(
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("The quick brown fox jumps over the lazy dog", 0x0B24_2D36_1FDA_71BC),
        ] as [(String, UInt64)]
    )
    func `the checksum is XXH64`(text: String, expected: UInt64) {
        #expect(Data(text.utf8).withUnsafeBytes(XXHash64.hash) == expected)
    }
}
