#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ContentDecoderTests {
    private static let body = Data("hello".utf8)

    /// The body in one stored block (RFC 1951), alone and with the header and the checksum of zlib.
    private static let deflated = Data([1, 5, 0, 0xFA, 0xFF]) + body
    private static let zlib = Data([0x78, 1]) + deflated + Data([0x06, 0x2C, 0x02, 0x15])

    /// As the program `zstd` makes it, with its checksum.
    private static let zstandard =
        Data([0x28, 0xB5, 0x2F, 0xFD, 0x04, 0x58, 0x29, 0, 0]) + body + Data([0xA3, 0x6D, 0x9F, 0x88])

    @Test(arguments: [
        ("zstd", zstandard, 1), ("zstd", zstandard + zstandard, 2),
        ("gzip", FuzzCoding.gzip(body), 1), ("gzip", FuzzCoding.gzip(body) + FuzzCoding.gzip(body), 2),
        ("deflate", deflated, 1), ("deflate", zlib, 1),
        ("gzip, deflate", Data([1, 28, 0, 0xE3, 0xFF]) + FuzzCoding.gzip(body), 1),
    ])
    func `a body is decoded in pieces of any size`(codings: String, encoded: Data, times: Int) throws {
        for size in 1...encoded.count {
            let decoder = try #require(try ContentDecoder(codings))
            var (result, rest) = (Data(), encoded[...])
            while !rest.isEmpty {
                try rest.prefix(size).withUnsafeBytes { bytes in try decoder.decode(bytes) { result += $0 } }
                rest = rest.dropFirst(size)
            }
            try decoder.finish()
            #expect(result == (0..<times).reduce(into: Data()) { whole, _ in whole += Self.body })
        }
    }

    @Test(arguments: [
        ("gzip", FuzzCoding.gzip(body)), ("deflate", deflated), ("deflate", zlib), ("zstd", zstandard),
    ])
    func `a body that is cut anywhere is incomplete`(codings: String, encoded: Data) throws {
        for count in 1..<encoded.count {
            let decoder = try #require(try ContentDecoder(codings))
            try encoded.prefix(count).withUnsafeBytes { bytes in try decoder.decode(bytes) { _ in } }
            #expect(throws: ResponseFlaw.self, "\(count)") { try decoder.finish() }
        }
    }

    @Test func `of unknown codings, only those that the request names are left as they are`() throws {
        for accepted in [nil, "gzip", "rot13x", ""] {
            #expect(throws: ResponseFlaw.self) { try ContentDecoder("gzip, rot13", accepted: accepted) }
        }
        for accepted in ["rot13", "gzip, ROT13;q=0.5", "*"] {
            #expect(try ContentDecoder("gzip, rot13", accepted: accepted) == nil)
        }
        #expect(try ContentDecoder("gzip", accepted: "gzip") != nil)
    }

    @Test func `a body that asks for a window that is too large is refused`() throws {
        // A frame without a length, whose window descriptor says 16 MiB.
        let decoder = try #require(try ContentDecoder("zstd"))
        let head = Data([0x28, 0xB5, 0x2F, 0xFD, 0, 14 << 3, 1, 0, 0])
        #expect(throws: ResponseFlaw.self) {
            try head.withUnsafeBytes { bytes in try decoder.decode(bytes) { _ in } }
        }
    }
}
#endif
