import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Server-sent events", .ownThread, .timeLimit(.minutes(1)))
struct ServerSentEventTests {
    /// Returns the lines of a text that arrives in these pieces.
    private func lines(_ pieces: [Data], limit: Int = 1 << 10) throws -> [String] {
        var splitter = LineSplitter(limit: limit)
        var result: [String] = []
        for piece in pieces {
            splitter.append(piece)
            while let line = try splitter.next() { result.append(line) }
        }
        return result + (splitter.rest().map { [$0] } ?? [])
    }

    private func events(_ pieces: [Data]) throws -> [ServerSentEvent] {
        var splitter = LineSplitter(limit: .max)
        var parser = ServerSentEventParser()
        var result: [ServerSentEvent] = []
        for piece in pieces {
            splitter.append(piece)
            while let line = try splitter.next() {
                if let event = parser.parse(line) { result.append(event) }
            }
        }
        return result
    }

    private func events(_ text: String) throws -> [ServerSentEvent] { try events([Data(text.utf8)]) }

    @Test func `lines end with LF, CR and CRLF, split at any byte`() throws {
        let text = Data("a\nb\r\n\r\rc ü\n\nd\r\n\n\re".utf8)
        let expected = ["a", "b", "", "", "c ü", "", "d", "", "", "e"]
        for cut in 0...text.count {
            #expect(try lines([text.prefix(cut), text.dropFirst(cut)]) == expected, "cut at \(cut)")
        }
        #expect(try lines(text.map { Data([$0]) }) == expected)
        #expect(try lines([]) == [])
        #expect(try lines([Data("\n".utf8)]) == [""])
    }

    @Test func `a line without an end is an error when it is too long`() throws {
        #expect(try lines([Data(repeating: 0x61, count: 10)], limit: 10).count == 1)
        for text in ["aaaaaaaaaaa", "aaaaaaaaaaa\n"] {
            #expect(throws: URLClientError.lineTooLong(limit: 10)) { try lines([Data(text.utf8)], limit: 10) }
        }
    }

    @Test func `an identifier counts with its event, also with one without data, but not with one that breaks off`() {
        var parser = ServerSentEventParser(lastEventID: "0")
        let lines = ["id: 1", "data: a", "", "id: 2", "data: b", "", "id: 3", "", "data: c", "", "id: 4", "data: d"]
        let events = lines.compactMap { parser.parse($0) }
        #expect(events.map(\.lastEventID) == ["1", "2", "3"] && parser.lastEventID == "3")
    }

    @Test func `an event without an end is an error, however short its lines are`() async {
        let body = HTTPBodyStream(
            AsyncStream(unfolding: {
                Data((String(repeating: "data: \(String(repeating: "x", count: 8_000))\n", count: 100)).utf8)
            })
        )
        let error = await #expect(throws: URLClientError.self) {
            for try await event in body.serverSentEvents { Issue.record("\(event.data.count)") }
        }
        #expect(error == .lineTooLong(limit: 16 << 20))
    }

    @Test func `a line counts only with its end`() async throws {
        for (text, retry) in [("retry: 10000", nil), ("retry: 10000\n", .seconds(10))] as [(String, Duration?)] {
            let body = HTTPBodyStream(
                AsyncStream {
                    $0.yield(Data(text.utf8)); $0.finish()
                }
            )
            var events = ServerSentEventIterator(body, after: "")
            #expect(try await events.next() == nil)
            #expect(events.retry == retry)
        }
    }

    @Test func `the examples of the standard`() throws {
        #expect(try events("data: YHOO\ndata: +2\ndata: 10\n\n").map(\.data) == ["YHOO\n+2\n10"])
        let second = try events(
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n"
        )
        #expect(second.map(\.data) == ["first event", "second event"])
        #expect(second.map(\.lastEventID) == ["1", ""])
        #expect(try events("data\n\ndata\ndata\n\ndata:").map(\.data) == ["", "\n"])
        #expect(try events("data:test\n\ndata: test\n\n").map(\.data) == ["test", "test"])
        let typed = try events("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\ndata: x\n\n")
        #expect(typed.map(\.type) == ["add", "remove", "message"])
    }

    @Test func `identifiers and waiting times stay, and those that are malformed are ignored`() throws {
        let all = try events(
            "id: 7\nretry: 1500\ndata: a\n\nid: 8\0\nretry: 1.5\nretry: -1\nretry:\ndata: b\n\nid: 9\n\ndata: c\n\n"
        )
        #expect(all.map(\.lastEventID) == ["7", "7", "9"])
        #expect(all.map(\.retry) == Array(repeating: .milliseconds(1500), count: 3))
        #expect(try events("retry: 99999999999999999999\ndata: x\n\n").first?.retry == .milliseconds(Int64.max))
    }

    @Test func `an event without data is none, and forgets its type`() throws {
        #expect(try events("event: x\n\ndata: y\n\n").map(\.type) == ["message"])
        #expect(try events("unknown: x\nDATA: y\n data: z\n\n") == [])
    }

    @Test func `a byte order mark is left out at the beginning only, and any split gives the same events`() throws {
        let text = Data("\u{FEFF}data: ü\r\ndata: \u{FEFF}b\r\r\nid: 1\ndata:: c\r\n\r\n:\n\n".utf8)
        let expected = try events([text])
        #expect(expected.map(\.data) == ["ü\n\u{FEFF}b", ": c"])
        for cut in 0...text.count {
            #expect(try events([text.prefix(cut), text.dropFirst(cut)]) == expected, "cut at \(cut)")
        }
        #expect(try events(text.map { Data([$0]) }) == expected)
    }

    @Test func `a stream gives its lines and its events`() async throws {
        let server = try LoopbackServer { _ in .chunked(["data: a\r", "\ndata: b\n\n", "data: c\n\nrest"]) }
        defer { server.stop() }
        let client = URLClient.fresh()
        var lines: [String] = []
        for try await line in try await client.stream(URLRequest(url: server.url("/"))).get().body.lines {
            lines.append(line)
        }
        #expect(lines == ["data: a", "data: b", "", "data: c", "", "rest"])
        var events: [String] = []
        for try await event in try await client.stream(URLRequest(url: server.url("/"))).get().body.serverSentEvents {
            events.append(event.data)
        }
        #expect(events == ["a\nb", "c"])
    }
}
