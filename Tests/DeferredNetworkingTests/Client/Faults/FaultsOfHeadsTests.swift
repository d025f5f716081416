import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

extension URLClientTests.Faults {
    private static let ten = LoopbackServer.Script.Step.send("\r\nContent-Length: 10\r\n\r\n1234567890")

    private static func line(_ line: String) -> LoopbackServer.Script {
        [.send("HTTP/1.1 200 OK\r\n"), .send(.text(line)), ten]
    }

    static let heads = [
        FaultRow("a reset before the head", [.reset], lost),
        FaultRow("a reset inside the head", [.send("HTTP/1.1 200 OK\r\nX-"), .reset], lost),
        FaultRow("an empty reply", [.close], lost),
        FaultRow("a close inside the status line", [.send("HTTP/1.1 2"), .close], lost),
        FaultRow("a close inside the head", [.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-"), .close], lost),
        FaultRow("a status line of garbage", [.send("garbage\r\n\r\n"), .close], bad),
        FaultRow("a status that is no number", [.send("HTTP/1.1 abc"), ten, .close], bad),
        FaultRow("a status of two digits", [.send("HTTP/1.1 99 X"), ten, .close], bad),
        FaultRow("a status of four digits", [.send("HTTP/1.1 1000 X"), ten, .close], bad),
        FaultRow("HTTP/3.0 in the clear", [.send("HTTP/3.0 200 OK"), ten, .close], bad),
        FaultRow("HTTP/0.9", [.send("HTTP/0.9 200 OK"), ten, .close], bad),
        FaultRow("another protocol", [.send("ICY 200 OK"), ten, .close], bad),
        FaultRow("HTTP/1.0", [.send("HTTP/1.0 200 OK"), ten, .close], fine),
        FaultRow("a status line without a reason", [.send("HTTP/1.1 200"), ten, .close], bad, overLibcurl: fine),
        FaultRow(
            "lines that end in LF",
            [.send("HTTP/1.1 200 OK\nContent-Length: 10\n\n1234567890"), .close],
            bad,
            overLibcurl: fine
        ),
        FaultRow("a header without its blank", line("X-A:b"), bad, overLibcurl: fine),
        FaultRow("a blank before the colon", line("X-A : b"), bad),
        FaultRow("a header without a name", line(": b"), bad),
        FaultRow("a header without a colon", line("nonsense"), bad),
        FaultRow("a NUL in a header", line("X-A: b\0c"), bad),
        FaultRow(
            "a byte that is no UTF-8",
            [.send("HTTP/1.1 200 OK\r\nX-A: "), .send(.bytes(Data([0xFF, 0xFE]))), ten],
            bad,
            overLibcurl: fine
        ),
        FaultRow("a header of 110,000 bytes", line("X-A: " + String(repeating: "a", count: 110_000)), bad),
        FaultRow(
            "400,000 bytes of headers",
            line((1...5).map { "X-\($0): " + String(repeating: "a", count: 80_000) }.joined(separator: "\r\n")),
            bad
        ),
        FaultRow(
            "a length that is no number",
            .response(headers: ["Content-Length": "abc"], body: "1234567890") + [.close],
            bad
        ),
        FaultRow("a negative length", .response(headers: ["Content-Length": "-5"], body: "1234567890") + [.close], bad),
        FaultRow(
            "one hint before the head",
            [.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"), .send(head), .send("1234567890")],
            fine
        ),
        FaultRow(
            "a hundred hints before the head",
            .repeating([.send("HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n")], count: 100) + [
                .send(head), .send("1234567890"),
            ],
            fine
        ),
        FaultRow(
            "a permission to go on that nobody asked for",
            [.send("HTTP/1.1 100 Continue\r\n\r\n"), .send(head), .send("1234567890")],
            fine
        ),
        FaultRow(
            "a head that comes byte by byte",
            [.drip(head, size: 1, every: .milliseconds(2)), .send("1234567890")],
            fine
        ),
        FaultRow("two lengths that agree", line("Content-Length: 10"), fine),
    ]

    @Test(arguments: heads)
    func `heads`(row: FaultRow) async throws { try await row.check() }
}
