import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct JSONLinesTests {
    private struct Change: Codable, Sendable, Equatable {
        let revision: Int
    }

    @Sendable private static func request(after last: Change?) -> HTTPRequest {
        HTTPRequest(
            scheme: "https",
            host: "example.com",
            query: [.init(name: "after", value: "\(last?.revision ?? 0)")]
        )
    }

    private static func read(_ lines: some AsyncSequence<Change, any Error>) async -> ([Int], (any Error)?) {
        var revisions: [Int] = []
        do {
            for try await change in lines { revisions.append(change.revision) }
            return (revisions, nil)
        } catch {
            return (revisions, error)
        }
    }

    @Test func `values come one by one, and a body that ends is asked for again from the last one on`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(
            .response(body: "{\"revision\":1}\n\n \r\n{\"revision\":2}\n{\"revi"),
            .failure(.connectionLost),
            .response(503),
            .response(body: "{\"revision\":3}\r\n{\"revision\":4}"),
            .response(204)
        )
        let reading = Task { await Self.read(stub.jsonLines(clock: clock, from: Self.request)) }
        try await clock.pass([1, 2, 4, 1], before: stub)
        let (revisions, error) = try await reading.value
        #expect(revisions == [1, 2, 3, 4] && error == nil)
        #expect(stub.requests.map { $0.query.first?.value } == ["0", "2", "2", "2", "4"])
        #expect(stub.requests.allSatisfy { $0.delivery == .stream })
    }

    @Test func `a line that is no value, one too long, and another status end them with an error`() async throws {
        let (first, decoding) = await Self.read(
            StubLoader(.response(body: "{\"revision\":1}\nnonsense\n{\"revision\":2}\n")).jsonLines(from: Self.request)
        )
        #expect(first == [1] && (decoding as? HTTPError)?.code == .cannotDecode)
        #expect((decoding as? HTTPError)?.response?.text == "nonsense")
        let long = StubLoader(.response(body: "{\"revision\":1}\n" + String(repeating: " ", count: 50)))
        let (second, limit) = await Self.read(long.jsonLines(upTo: 20, from: Self.request))
        #expect(second == [1] && limit as? URLClientError == .lineTooLong(limit: 20))
        let (none, status) = await Self.read(StubLoader(.response(404)).jsonLines(from: Self.request))
        #expect(none.isEmpty && (status as? HTTPError)?.response?.status == 404)
    }

    @Test func `they end when there is no next request, with the closure's error, and once`() async throws {
        struct Failure: Error {}
        let clock = ManualClock()
        let stub = StubLoader(.response(body: "{\"revision\":1}\n"))
        let lines = stub.jsonLines(of: Change.self, clock: clock) { $0 == nil ? Self.request(after: nil) : nil }
        #expect(await Self.read(lines) == ([1], nil))
        var failing = stub.jsonLines(of: Change.self) { _ in throw Failure() }.makeAsyncIterator()
        await #expect(throws: Failure.self) { try await failing.next() }
        #expect(try await failing.next() == nil)
        // One that another request might not meet, too: it is the caller's own.
        let lost = stub.jsonLines(of: Change.self) { _ in
            throw HTTPError(.connectionLost, request: Self.request(after: nil))
        }
        let (none, error) = await Self.read(lost)
        #expect(none.isEmpty && (error as? HTTPError)?.code == .connectionLost)
    }

    @Test func `lines have a limit of the caller's choice, and the error names it`() async throws {
        let body = HTTPBodyStream(
            AsyncStream<Data> { continuation in
                for piece in ["abc\nab", "cde"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        )
        var lines = body.lines(upTo: 4).makeAsyncIterator()
        #expect(try await lines.next() == "abc")
        let error = await #expect(throws: URLClientError.lineTooLong(limit: 4)) {
            try await lines.next()
        }
        #expect(error?.description.contains("lines(upTo:)") == true)
    }
}

private func == (one: ([Int], (any Error)?), other: ([Int], Never?)) -> Bool { one.0 == other.0 && one.1 == nil }
