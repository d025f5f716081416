#if os(Linux)
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct LibcurlResponseTests {
    private func response(_ method: String = "GET", _ lines: String...) throws -> LibcurlResponse {
        var request = URLRequest(url: URL(string: "http://a/")!)
        request.httpMethod = method
        var response = LibcurlResponse(of: try CheckedRequest(request))
        for line in lines + [""] {
            let head = try Data("\(line)\r\n".utf8).withUnsafeBytes { try response.append(line: $0) }
            if let head, !head.status.isInterim { response.begin(head) }
        }
        return response
    }

    private struct Stopped: Error {}

    /// Adds a chunk until there is no whole piece before its end, and returns the sizes of the pieces taken on the way.
    private func append(_ chunk: Data, to response: inout LibcurlResponse) throws -> [Int] {
        var pieces: [Int] = []
        while true {
            let step = try chunk.withUnsafeBytes { bytes in
                try response.append(body: bytes, accepted: nil) { pieces.append(($1 ?? Data()).count) }
            }
            guard case .full = step else { return pieces }
            pieces.append(response.take().bytes?.count ?? 0)
        }
    }

    @Test func `the head waits until it is taken, once`() throws {
        var response = try response("GET", "HTTP/1.1 200 OK", "Content-Length: 2")
        let before = (response.isWaiting, response.hasBytes, response.isInVersion1)
        #expect(before == (true, false, true))
        let (head, bytes) = response.take()
        let (again, last) = (response.take().head, response.head)
        #expect(head?.status == 200 && bytes == nil && again == nil && last?.status == 200)
    }

    @Test func `a redirect, and its body, aren't delivered, and a long body isn't needed`() throws {
        var response = try response("GET", "HTTP/1.1 302 Found", "Location: /b")
        let before = (response.isRedirect, response.isWaiting)
        #expect(before == (true, false))
        let chunk = Data(count: 40_000)
        for isNeeded in [true, false] {
            let step = try chunk.withUnsafeBytes { try response.append(body: $0, accepted: nil) { _, _ in } }
            if case .unneeded = step { #expect(!isNeeded) } else { #expect(isNeeded) }
        }
        let hasBytes = response.hasBytes
        #expect(!hasBytes)
    }

    @Test func `bytes gather up to a piece, and no chunk is split or lost`() throws {
        var response = try response("GET", "HTTP/1.1 200 OK")
        _ = response.take()
        let chunk = Data(repeating: 1, count: 100_000)
        var pieces: [Int] = []
        for _ in 0..<7 { pieces += try append(chunk, to: &response) }
        #expect(pieces == [200_000, 200_000, 200_000])
        let rest = response.take().bytes
        #expect(rest?.count == 100_000)
    }

    @Test func `a coding's bytes are decoded piece by piece, and the chunk goes on where it was refused`() throws {
        var response = try response("GET", "HTTP/1.1 200 OK", "Content-Encoding: gzip")
        _ = response.take()
        let encoded = (0..<20).map { FuzzCoding.gzip(Data(repeating: $0, count: 60_000)) }.reduce(Data(), +)
        var count = 0
        for start in stride(from: 0, to: encoded.count, by: 50_000) {
            let chunk = encoded[start..<min(start + 50_000, encoded.count)]
            let pieces = try append(Data(chunk), to: &response)
            #expect(pieces.allSatisfy { $0 <= PieceBuffer.size })
            count += pieces.reduce(0, +)
        }
        count += response.take().bytes?.count ?? 0
        try response.finish()
        #expect(count == 20 * 60_000)
    }

    /// 4,000,000 zeros, compressed twice.
    private static let bomb = Data(
        base64Encoded: """
            H4sIAAAAAAACA5Pv5mAAASbmtwcZeYGMQwu+++fys4swjIJRMApGwSgYBaNgFIyCUTAKRsEoGAWjAAQ+5NVr3T7PwGnLAADsMoTe
            Rg8AAA==
            """,
        options: .ignoreUnknownCharacters
    )!

    @Test func `what becomes more than a piece at once is delivered in between, and can be stopped there`() throws {
        var response = try response("GET", "HTTP/1.1 200 OK", "Content-Encoding: gzip, gzip")
        let pieces = try append(Self.bomb, to: &response)
        #expect(pieces.count > 10 && pieces.allSatisfy { $0 <= PieceBuffer.size })
        let rest = response.take().bytes?.count ?? 0
        #expect(pieces.reduce(rest, +) == 4_000_000)

        var stopped = try self.response("GET", "HTTP/1.1 200 OK", "Content-Encoding: gzip, gzip")
        var count = 0
        let failure = Result {
            _ = try Self.bomb.withUnsafeBytes { bytes in
                try stopped.append(body: bytes, accepted: nil) { _, _ in
                    count += 1
                    throw Stopped()
                }
            }
        }
        #expect(throws: Stopped.self) { try failure.get() }
        #expect(count == 1)
    }

    @Test(arguments: [
        ("GET", "HTTP/1.1 200 OK", "Content-Length: 3", 3, true, true),
        ("GET", "HTTP/1.1 200 OK", "Content-Length: 3", 2, false, false),
        ("HEAD", "HTTP/1.1 200 OK", "Content-Length: 3", 0, true, true),
        ("GET", "HTTP/1.1 204 No Content", "A: b", 0, true, true),
        ("GET", "HTTP/1.1 304 Not Modified", "A: b", 0, true, false),
        ("GET", "HTTP/1.1 404 Not Found", "Content-Length: 3", 3, true, false),
        ("GET", "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", 3, nil, true),
        ("GET", "HTTP/1.1 200 OK", "A: b", 3, nil, false),
    ])
    func `whether all of it has come, and is an answer while the request is still sent`(
        method: String,
        status: String,
        field: String,
        count: Int,
        hasBody: Bool?,
        isAnswer: Bool
    ) throws {
        var response = try response(method, status, field)
        if count > 0 { #expect(try append(Data(count: count), to: &response) == []) }
        let (has, early) = (response.hasBody, response.answer)
        #expect(has == hasBody)
        #expect(early == nil || count == 0, "not before its bytes were taken")
        _ = response.take()
        let answer = response.answer
        #expect((answer != nil) == isAnswer)
    }

    @Test func `what comes behind the body is in the last head`() throws {
        var response = try response("GET", "HTTP/1.1 200 OK", "Transfer-Encoding: chunked")
        for line in ["X-Sum: 1", "Content-Length: 5", ""] {
            let head = try Data("\(line)\r\n".utf8).withUnsafeBytes { try response.append(line: $0) }
            #expect(head == nil)
        }
        try response.finish()
        let trailers = response.head?.trailers
        #expect(trailers?["X-Sum"] == "1" && trailers?["Content-Length"] == nil)
    }

    @Test func `a response that libcurl has answered itself is forgotten`() throws {
        var response = try response("PUT", "HTTP/1.1 417 Expectation Failed", "Content-Length: 3")
        response.reset()
        let (head, hasBody) = (response.head, response.hasBody)
        let flags = (response.isWaiting, response.hasHead)
        #expect(head == nil && hasBody == nil && flags == (false, false))
    }
}
#endif
