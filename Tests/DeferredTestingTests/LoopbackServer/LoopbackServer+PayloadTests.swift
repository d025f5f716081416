import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite("LoopbackServer.Payload", .ownThread, .timeLimit(.minutes(5)))
struct LoopbackServerPayloadTests {
    typealias Payload = LoopbackServer.Payload

    @Test func `a payload knows its size, and that of its prefixes`() {
        let file = URL(fileURLWithPath: "/nowhere")
        let payloads: [Payload] = ["abcde", .bytes(Data(count: 5)), .pattern(count: 5), .file(file, range: 3..<8)]
        for payload in payloads {
            #expect(payload.count == 5)
            #expect(payload.prefix(2).count == 2)
            #expect(payload.prefix(9) == payload)
        }
        #expect(Payload.pattern(count: -1).count == 0)
    }

    @Test func `the pattern is the offset modulo 251, wherever it is cut`() {
        let whole = (0..<200_000).map { UInt8($0 % 251) }
        for range in [0..<0, 0..<1, 250..<253, 1_000..<66_536, 5..<199_999] {
            #expect(Payload.patternBytes(range) == Data(whole[range]))
        }
        #expect(Payload.patternBytes(-3..<0) == Data(whole[0..<3]))
    }

    @Test func `a file that ends before its range, or that is not there, closes the connection there`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("0123456789", to: "file")
        let script: LoopbackServer.Script = .response(body: .file(file, range: 8..<20)) + [.send("not sent")]
        let server = try LoopbackServer { request in
            request.path == "/short"
                ? script : [.send("go"), .send(.file(file.appendingPathExtension("x"), range: 0..<1))]
        }
        let short = try RawClient(port: server.port)
        try short.send("GET /short HTTP/1.1\r\n\r\n")
        #expect(try short.receiveAll() == "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n89")
        let missing = try RawClient(port: server.port)
        try missing.send("GET /missing HTTP/1.1\r\n\r\n")
        #expect(try missing.receiveAll() == "go")
    }
}
