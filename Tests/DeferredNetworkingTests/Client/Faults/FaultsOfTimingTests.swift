import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

extension URLClientTests.Faults {
    private static let refusing: @Sendable (LoopbackServer) -> URL = { _ in
        URL(string: "http://127.0.0.1:1/") ?? URL(filePath: "/")
    }

    static let timings = [
        FaultRow("a refused connection", [], .url(.cannotConnectToHost), url: refusing),
        FaultRow("a stall before the head", [.stall], late),
        FaultRow("a stall inside the status line", [.send("HTTP/1."), .stall], late),
        FaultRow("a stall inside the head", [.send("HTTP/1.1 200 OK\r\nX-A: b"), .stall], late),
        FaultRow("a stall after the head", [.send(head), .stall], late),
        FaultRow("a stall inside the body", [.send(head), .send("12345"), .stall], late),
        FaultRow("a stall inside a chunk", [.send(chunked), .send("a\r\n12345"), .stall], late),
        FaultRow("a stall before the last chunk", [.send(chunked), .send("a\r\n1234567890\r\n"), .stall], late),
        FaultRow("a stall after hints", [.send("HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n"), .stall], late),
        FaultRow("a stall where the connection is the end", [.send("HTTP/1.1 200 OK\r\n\r\n12345"), .stall], late),
        FaultRow(
            "a head that drips beyond its deadline",
            [.send("HTTP/1.1 200 OK\r\nX-A: "), .drip(.pattern(count: 10_000), size: 1, every: .milliseconds(50))],
            late,
            change: { $0.deadlines = .init(connectToHead: .milliseconds(200)) }
        ),
        FaultRow(
            "a body that drips beyond the total deadline",
            .response(body: .pattern(count: 10_000)).dripped(10, every: .milliseconds(60)),
            .client(.deadlineExceeded),
            change: { $0.deadlines.total = .milliseconds(250) }
        ),
        FaultRow(
            "a stall that the total deadline ends",
            [.stall],
            .client(.deadlineExceeded),
            change: { $0.deadlines = .init(total: .milliseconds(100)) }
        ),
        FaultRow(
            "redirects beyond the total deadline",
            .client(.deadlineExceeded),
            change: {
                $0.deadlines.total = .milliseconds(150)
                $0.redirects = .follow(atMost: 1_000_000)
            }
        ) { _ in .redirect(to: "/").delayed(by: .milliseconds(10)) },
        FaultRow("a pause within the deadlines", [.send(head), .pause(.milliseconds(100)), .send("1234567890")], fine),
    ]

    @Test(arguments: timings)
    func `deadlines`(row: FaultRow) async throws { try await row.check() }
}
