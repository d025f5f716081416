import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Data sink", .ownThread, .timeLimit(.minutes(1)))
struct DataSinkTests {
    /// Returns the body that a sink makes of these pieces.
    private func body(_ pieces: [String], length: String?) throws -> String? {
        let result = Lock<Result<(Data, ResponseHead), any Error>?>(nil)
        let sink = DataSink { end in result.withLock { $0 = end } }
        let head = ResponseHead.made(200, length.map { ["Content-Length": $0] } ?? [:])
        #expect(try sink.receive(head: head))
        for piece in pieces { try sink.receive(bytes: Data(piece.utf8)) }
        sink.finish(.success(head))
        return try result.withLock { $0 }.map { String(decoding: try $0.get().0, as: UTF8.self) }
    }

    @Test(arguments: [nil, "0", "1", "5", "6", "7", "100", "99999999999", "x"])
    func `a body is all of its pieces, whatever length was announced`(length: String?) throws {
        #expect(try body(["hello", " ", "world"], length: length) == "hello world")
        #expect(try body(["hello"], length: length) == "hello")
        #expect(try body([], length: length) == "")
    }

    @Test func `a body in one piece isn't copied`() throws {
        let piece = Data(repeating: 1, count: 100_000)
        let sink = DataSink { end in
            let body = try? end.get().0
            #expect(body?.withUnsafeBytes { $0.baseAddress } == piece.withUnsafeBytes { $0.baseAddress })
        }
        let head = ResponseHead.made(200, ["Content-Length": "100000"])
        #expect(try sink.receive(head: head))
        try sink.receive(bytes: piece)
        sink.finish(.success(head))
    }

    @Test func `a second head replaces the first, and its bytes`() throws {
        let sink = DataSink { end in
            #expect((try? end.get().0) == Data("two".utf8))
        }
        for (status, text) in [(401, "first"), (200, "two")] {
            _ = try sink.receive(head: .made(status, ["Content-Length": "\(text.utf8.count)"]))
            try sink.receive(bytes: Data(text.utf8))
        }
        sink.finish(.success(.made(200)))
    }
}
