import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Response framing", .ownThread, .timeLimit(.minutes(1)))
struct ResponseFramingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let headers: [String: String]
        let range: String?
        let isFine: Bool

        init(_ isFine: Bool, _ status: Int, _ headers: [String: String], range: String? = nil) {
            (self.status, self.headers, self.range, self.isFine) = (status, headers, range, isFine)
        }

        var testDescription: String { "\(status) \(headers) to \(range ?? "no range")" }
    }

    static let rows = [
        Row(true, 200, [:]), Row(true, 200, ["Content-Length": "10"]), Row(true, 200, ["Content-Length": "10, 10"]),
        Row(false, 200, ["Content-Length": "10, 5"]), Row(false, 200, ["Content-Length": "+10"]),
        Row(false, 200, ["Content-Length": ""]), Row(false, 200, ["Content-Length": "1e3"]),
        Row(false, 200, ["Content-Length": "99999999999999999999"]),
        Row(true, 200, ["Content-Length": "x", "Transfer-Encoding": "chunked"]),
        Row(false, 200, ["Content-Length": "0", "Transfer-Encoding": "chunked"]),
        Row(true, 200, ["Content-Length": "0", "Transfer-Encoding": "identity"]),
        Row(true, 304, ["Content-Length": "0", "Transfer-Encoding": "chunked"]),
        Row(true, 200, ["Transfer-Encoding": "Chunked"]), Row(true, 200, ["Transfer-Encoding": "identity"]),
        Row(true, 200, ["Transfer-Encoding": "chunked, chunked"]), Row(true, 204, ["Transfer-Encoding": "gzip"]),
        Row(false, 200, ["Transfer-Encoding": "gzip, chunked"]), Row(false, 200, ["Transfer-Encoding": "rot13"]),
        Row(false, 200, ["Transfer-Encoding": "identity, chunked"]),
        Row(true, 200, [:], range: "bytes=5-"),
        Row(false, 206, [:]), Row(false, 206, ["Content-Range": "bytes 0-9/10"]),
        Row(false, 206, [:], range: "bytes=0-9"), Row(false, 206, ["Content-Range": "x"], range: "bytes=0-9"),
        Row(false, 206, ["Content-Range": "bytes */10"], range: "bytes=0-9"),
        Row(true, 206, ["Content-Range": "bytes 0-9/20"], range: "bytes=0-9"),
        Row(true, 206, ["Content-Range": "bytes 0-5/6"], range: "bytes=0-9"),
        Row(false, 206, ["Content-Range": "bytes 0-10/20"], range: "bytes=0-9"),
        Row(false, 206, ["Content-Range": "bytes 1-9/20"], range: "bytes=0-9"),
        Row(true, 206, ["Content-Range": "bytes 5-9/10"], range: "bytes=5-"),
        Row(false, 206, ["Content-Range": "bytes 4-9/10"], range: "bytes=5-"),
        Row(true, 206, ["Content-Range": "bytes 8-9/10"], range: "bytes=-2"),
        Row(false, 206, ["Content-Range": "bytes 0-1/10"], range: "bytes=-2"),
        Row(false, 206, ["Content-Range": "bytes 7-9/10"], range: "bytes=-2"),
        Row(true, 206, ["Content-Range": "bytes 5-9/10", "Content-Length": "5"], range: "bytes=5-"),
        Row(false, 206, ["Content-Range": "bytes 5-9/10", "Content-Length": "4"], range: "bytes=5-"),
        Row(true, 206, ["Content-Type": "multipart/byteranges; boundary=x"], range: "bytes=0-1,4-5"),
        Row(false, 206, ["Content-Type": "multipart/byteranges; boundary=x"], range: "bytes=0-1"),
        Row(true, 206, ["Content-Range": "bytes 0-5/9"], range: "bytes=0-1,4-5"),
        Row(true, 206, ["Content-Range": "bytes 0-5/9"], range: "bytes"),
    ]

    @Test(arguments: rows)
    func `a response that contradicts itself or the request is refused`(row: Row) throws {
        let url = try #require(URL(string: "http://host/"))
        var request = URLRequest(url: url)
        request.setValue(row.range, forHTTPHeaderField: "Range")
        do throws(URLError) {
            _ = try ResponseFraming.check(.made(row.status, row.headers), of: .checked(request))
            #expect(row.isFine)
        } catch {
            #expect(!row.isFine)
            #expect(error.code == .badServerResponse && error.failingURL == url)
        }
    }

    @Test func `chunks beyond the range that they are of are refused`() throws {
        let url = try #require(URL(string: "http://host/"))
        var request = URLRequest(url: url)
        request.setValue("bytes=5-9", forHTTPHeaderField: "Range")
        let headers = ["Content-Range": "bytes 5-9/20", "Transfer-Encoding": "chunked"]
        var machine = ExchangeStateMachine(.checked(request))
        machine.begin()
        machine.admitted()
        _ = try machine.prepared(machine.request)
        machine.received(.made(206, headers), task: 1)
        _ = machine.takeReaction()
        machine.received(Data(count: 5), task: 1)
        #expect(machine.takeReaction().summary == ["5 bytes, 5/5"])
        machine.received(Data(count: 1), task: 1)
        #expect(machine.takeReaction().summary == ["end -1011", "cancel 1"])
    }
}
