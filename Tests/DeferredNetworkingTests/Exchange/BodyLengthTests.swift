import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Body length", .ownThread, .timeLimit(.minutes(1)))
struct BodyLengthTests {
    @Test(
        arguments: [
            ("GET", 200, ["Content-Length": "5"], 5), ("GET", 404, ["content-length": "5"], 5), ("GET", 200, [:], nil),
            ("HEAD", 200, ["Content-Length": "5"], 0), ("GET", 204, ["Content-Length": "5"], 0),
            ("GET", 304, ["Content-Length": "5"], 0),
            ("GET", 200, ["Content-Length": "5", "Content-Encoding": "gzip"], nil),
            ("GET", 200, ["Content-Length": "5", "Content-Encoding": "identity"], 5),
            ("GET", 200, ["Content-Length": "5", "Transfer-Encoding": "chunked"], nil),
            ("GET", 200, ["Content-Length": "2, 5"], nil), ("GET", 200, ["Content-Length": "-5"], nil),
            ("GET", 200, ["Content-Length": "99999999999999999999"], nil),
            ("GET", 206, ["Content-Range": "bytes 5-9/20"], 5), ("GET", 206, [:], nil),
            ("GET", 200, ["Content-Range": "bytes 5-9/20"], nil),
        ] as [(String, Int, [String: String], Int64?)]
    )
    func `a length is expected if the response declares it`(
        method: String,
        status: Int,
        headers: [String: String],
        expected: Int64?
    ) {
        #expect(BodyLength.expected(from: .made(status, headers), method: method) == expected)
    }
}
