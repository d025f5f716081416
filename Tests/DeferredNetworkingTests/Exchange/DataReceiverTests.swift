import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Data receiver", .ownThread, .timeLimit(.minutes(1)))
struct DataReceiverTests {
    private let exchange: Exchange

    init() throws {
        exchange = .idle(.checked(URLRequest(url: try #require(URL(string: "http://host/")))))
    }

    private func body(_ end: AttemptEnd) throws -> Data? {
        if case .result(let result) = end { try result.get().data.body } else { nil }
    }

    /// Returns the body that a receiver makes of these pieces.
    private func body(_ pieces: [String], length: String?) throws -> String? {
        var receiver = DataReceiver()
        let head = ResponseHead.made(200, length.map { ["Content-Length": $0] } ?? [:])
        guard case .take = receiver.receive(head: head, of: exchange) else { return nil }
        for piece in pieces { try receiver.receive(bytes: Data(piece.utf8)) }
        return try body(receiver.finish(.success(head))).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [nil, "0", "1", "5", "6", "7", "100", "99999999999", "x"])
    func `a body is all of its pieces, whatever length was announced`(length: String?) throws {
        #expect(try body(["hello", " ", "world"], length: length) == "hello world")
        #expect(try body(["hello"], length: length) == "hello")
        #expect(try body([], length: length) == "")
    }

    @Test func `a body in one piece isn't copied`() throws {
        let piece = Data(repeating: 1, count: 100_000)
        var receiver = DataReceiver()
        let head = ResponseHead.made(200, ["Content-Length": "100000"])
        _ = receiver.receive(head: head, of: exchange)
        try receiver.receive(bytes: piece)
        let body = try body(receiver.finish(.success(head)))
        #expect(body?.withUnsafeBytes { $0.baseAddress } == piece.withUnsafeBytes { $0.baseAddress })
    }

    @Test func `a second head replaces the first, and its bytes`() throws {
        var receiver = DataReceiver()
        for (status, text) in [(401, "first"), (200, "two")] {
            _ = receiver.receive(head: .made(status, ["Content-Length": "\(text.utf8.count)"]), of: exchange)
            try receiver.receive(bytes: Data(text.utf8))
        }
        #expect(try body(receiver.finish(.success(.made(200)))) == Data("two".utf8))
    }
}
