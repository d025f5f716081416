import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

extension URLClientTests.Faults {
    private static let gzip: HTTPHeaders = ["Content-Encoding": "gzip"]

    /// "1234567890", compressed.
    private static let compressed = Data(base64Encoded: "H4sIAAAAAAACAzM0MjYxNTO3sDQAAOWuHSYKAAAA") ?? Data()

    static let bodies = [
        FaultRow("a reset after the head", [.send(head), .reset], lost),
        FaultRow("a reset inside the body", [.send(head), .send("12345"), .reset], lost),
        FaultRow(
            "a body shorter than its length",
            [.send(head), .send("12345"), .close],
            .client(.truncatedBody(received: 5, expected: 10))
        ),
        FaultRow(
            "no body where one is announced",
            [.send(head), .close],
            .client(.truncatedBody(received: 0, expected: 10))
        ),
        FaultRow("bytes after the body", [.send(head), .send("1234567890surplus"), .close], fine),
        FaultRow(
            "a second response that nobody asked for",
            [.send(head), .send("1234567890"), .send(head), .send("0987654321"), .close],
            fine
        ),
        FaultRow("an empty body", .response(body: ""), fine, body: Data()),
        FaultRow(
            "a body that comes byte by byte",
            [.send(head), .drip("1234567890", size: 1, every: .milliseconds(5))],
            fine
        ),
        FaultRow("a body that ends with the connection", .untilClose(body: "1234567890"), fine),
        FaultRow(
            "an absurd length",
            .response(headers: ["Content-Length": "1234567890123456789012345"], body: "1234567890") + [.close],
            bad
        ),
        FaultRow(
            "two lengths",
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 10\r\n\r\n1234567890"), .close],
            bad
        ),
        FaultRow(
            "one length twice",
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 10\r\n\r\n1234567890"), .close],
            fine
        ),
        FaultRow(
            "a part that nobody asked for",
            .response(206, headers: ["Content-Range": "bytes 0-9/20"], body: "1234567890"),
            bad
        ),
        FaultRow("a part that doesn't say which", .response(206, body: "1234567890"), bad),
        FaultRow("chunks", .chunked(["12345", "67890"]), fine),
        FaultRow("chunks and a length", .chunked(["12345", "67890"], headers: ["Content-Length": "3"]), fine),
        FaultRow("a close inside a chunk", [.send(chunked), .send("a\r\n12345"), .close], lost),
        FaultRow("a close between chunks", [.send(chunked), .send("5\r\n12345\r\n"), .close], lost),
        FaultRow("a reset between chunks", [.send(chunked), .send("5\r\n12345\r\n"), .reset], lost),
        FaultRow("a chunk size that is no number", [.send(chunked), .send("xyz\r\n12345\r\n"), .close], bad),
        FaultRow(
            "a chunk size beyond 64 bits",
            [.send(chunked), .send("fffffffffffffffff\r\n12345\r\n"), .close],
            bad
        ),
        FaultRow("a chunk longer than its size", [.send(chunked), .send("3\r\n12345\r\n0\r\n\r\n"), .close], bad),
        FaultRow(
            "an unknown transfer coding",
            .response(headers: ["Transfer-Encoding": "rot13"], body: "1234567890") + [.close],
            bad
        ),
        FaultRow("gzip", .response(headers: gzip, body: .bytes(compressed)), fine),
        FaultRow("gzip that is none", .response(headers: gzip, body: "this is not gzip at all"), bad),
        FaultRow(
            "gzip that is cut with its connection",
            .response(headers: gzip, body: .bytes(compressed.prefix(20)), contentLength: compressed.count) + [.close],
            lost
        ),
        FaultRow("an unknown coding", .response(headers: ["Content-Encoding": "rot13"], body: "1234567890"), bad),
        FaultRow(
            "a compressed body beyond the limit",
            .response(headers: gzip, body: .bytes(bomb)),
            fine,
            body: Data(count: 1 << 20),
            others: [.begin: .client(.bodyTooLarge(limit: 500_000)), .upload: .client(.bodyTooLarge(limit: 500_000))]
        ),
        FaultRow(
            "a body beyond the limit",
            .response(body: .pattern(count: 500_001)),
            fine,
            body: LoopbackServer.Payload.patternBytes(0..<500_001),
            others: [.begin: .client(.bodyTooLarge(limit: 500_000)), .upload: .client(.bodyTooLarge(limit: 500_000))]
        ),
        FaultRow("no content", .response(204), .status(204), body: Data(), others: [:]),
        FaultRow(
            "no content, with a body",
            [.send("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello"), .close],
            .status(204),
            body: Data()
        ),
        FaultRow("not modified", .response(304), status(304)),
        FaultRow("an error with a body", .response(404, body: "nothing here"), status(404, "nothing here")),
        FaultRow(
            "an error whose body is cut",
            .response(500, body: "12345", contentLength: 10) + [.close],
            status(500, "12345")
        ),
        FaultRow("an error that asks to come back", .response(503, headers: ["Retry-After": "1"]), status(503)),
    ]

    @Test(arguments: bodies)
    func `bodies`(row: FaultRow) async throws { try await row.check() }

    /// A mebibyte of zeros, compressed.
    private static let bomb = Data(base64Encoded: bombText) ?? Data()

    private static let bombText =
        [
            "H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPgMc6jinAAAQAA==",
        ].joined()
}
