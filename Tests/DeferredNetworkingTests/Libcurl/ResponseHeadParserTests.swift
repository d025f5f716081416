import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ResponseHeadParserTests {
    private func parse(_ lines: [Data]) throws -> [ResponseHead] {
        var parser = ResponseHeadParser(of: URL(filePath: "/"))
        return try lines.compactMap { line in try line.withUnsafeBytes { try parser.append($0) } }
    }

    private func parse(_ text: String) throws -> [ResponseHead] {
        try parse(text.split(separator: "|", omittingEmptySubsequences: false).map { Data("\($0)\r\n".utf8) })
    }

    @Test func `a head has its version, its status and its fields`() throws {
        let heads = try parse("HTTP/1.1 200 OK|A: b|C:  d e \t|E:|")
        #expect(heads.count == 1 && heads[0].version == "HTTP/1.1" && heads[0].status == 200)
        #expect(heads[0].headers.map { "\($0.name)=\($0.value)" } == ["A=b", "C=d e", "E="])
    }

    @Test(arguments: ["HTTP/2 200 ", "HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.1 200 a b  c"])
    func `status lines that servers send are read`(line: String) throws {
        #expect(try parse("\(line)|")[0].status == 200)
    }

    @Test(arguments: [
        "HTTP/1.1", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 abc", "HTTP/1.1  200", "HTTP/1.1 -20", "HTTP/1.1 099",
        "HTTP/1.2 200", "HTTP/3 200", "http/1.1 200", "ICY 200", "A: b", "HTTP/1.1 200 a\0", "HTTP/1.1 200 a\rb",
    ])
    func `other status lines are refused`(line: String) {
        #expect(throws: ResponseFlaw.self) { try parse("\(line)|") }
    }

    @Test(arguments: ["nonsense", ": b", "A : b", "A B: c", " A: b", "A: b\0", "A: b\rc", "\u{E9}: b"])
    func `malformed fields are refused`(line: String) {
        #expect(throws: ResponseFlaw.self) { try parse("HTTP/1.1 200 OK|\(line)|") }
    }

    @Test(arguments: ["Set-Cookie: hunter2\rb", "X-Token : hunter2", "Set-Cookie: a=b; id=hunter2\0"])
    func `the description of a malformed field has no secret`(line: String) throws {
        let flaw = try #require(throws: ResponseFlaw.self) { try parse("HTTP/1.1 200 OK|\(line)|") }
        #expect(!flaw.description.contains("hunter2"), "\(flaw.description)")
        #expect(flaw.description.contains(line.prefix { $0 != ":" }), "the name tells what is wrong")
    }

    @Test func `the version is known from the status line on, and again after an interim head`() throws {
        var parser = ResponseHeadParser(of: URL(filePath: "/"))
        var answers = [parser.isInVersion1]
        for line in ["HTTP/1.1 100 Go on", "", "HTTP/2 200 ", "HTTP/1.1: a field", ""] {
            _ = try Data("\(line)\r\n".utf8).withUnsafeBytes { try parser.append($0) }
            answers.append(parser.isInVersion1)
        }
        #expect(answers == [false, true, false, false, false, false])
        parser.reset()
        _ = try Data("HTTP/1.0 200 OK\r\n".utf8).withUnsafeBytes { try parser.append($0) }
        #expect(parser.isInVersion1)
    }

    @Test func `an interim head is one unless it is a 100 or malformed, and lines behind the head are trailers`() throws
    {
        var parser = ResponseHeadParser(of: URL(filePath: "/"))
        let lines = "HTTP/1.1 103 Hints|Link: a||HTTP/1.1 100 Go on||HTTP/1.1 103 Bad|no colon||HTTP/1.1 204 No|A: 1||"
        var heads: [ResponseHead] = []
        for line in (lines + "B: 2| 3|date: now|").split(separator: "|", omittingEmptySubsequences: false) {
            try Data("\(line)\r\n".utf8).withUnsafeBytes { heads += try [parser.append($0)].compactMap(\.self) }
            if heads.count < 2 { #expect(try parser.trailers() == [:]) }
        }
        #expect(heads.map(\.status) == [103, 204] && heads.map(\.headers) == [["Link": "a"], ["A": "1"]])
        #expect(try parser.trailers() == ["B": "2 3"])
        parser.reset()
        #expect(try parser.trailers() == [:])
    }

    @Test func `each line is a field of its own, and folded ones are unfolded`() throws {
        let head = try parse("HTTP/1.1 200 OK|a: 1|A: 2|Set-Cookie: x=1, 2|set-cookie: y=3|b: 4| 5|\t6|c:| 7| |")[0]
        #expect(head.headers.map(\.name) == ["a", "A", "Set-Cookie", "set-cookie", "b", "c"])
        #expect(head.headers.map(\.value) == ["1", "2", "x=1, 2", "y=3", "4 5 6", "7"])
    }

    @Test(arguments: ["Transfer-Encoding:| chunked", "transfer-encoding: identity,|\tchunked"])
    func `a folded coding is refused, since libcurl frames the body by its first line`(fields: String) {
        #expect(throws: ResponseFlaw.self) { try parse("HTTP/1.1 200 OK|\(fields)|") }
    }

    @Test func `bytes that are no UTF-8 are read as ISO 8859-1`() throws {
        let head = try parse([
            Data("HTTP/1.1 200 OK\r\n".utf8), Data([0x41, 0x3A, 0xE9, 0x0A]), Data("B: \u{E9}\r\n".utf8),
            Data("\r\n".utf8),
        ])[0]
        #expect(head.headers.map(\.value) == ["\u{E9}", "\u{E9}"])
    }

    @Test func `heads without end are refused`() {
        #expect(throws: ResponseFlaw.self) {
            try parse("HTTP/1.1 200 OK|" + (0..<60_000).map { "\($0): b" }.joined(separator: "|") + "|")
        }
        #expect(throws: ResponseFlaw.self) {
            try parse(
                "HTTP/1.1 200 OK|"
                    + (0..<40).map { "\($0): " + String(repeating: "x", count: 9_000) }.joined(separator: "|")
            )
        }
    }
}
