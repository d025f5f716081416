import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct EventSourceTests {
    private func stream(_ pieces: String...) -> HTTPBodyStream {
        HTTPBodyStream(
            AsyncStream<Data> { continuation in
                for piece in pieces { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        )
    }

    private func answer(_ text: String, type: String = "text/event-stream; charset=utf-8") -> StubLoader.Answer {
        .response(headers: ["Content-Type": type], body: text)
    }

    @Test func `lines are whole, however the bytes arrive`() async throws {
        var lines: [String] = []
        for try await line in stream("a\r", "\nb", "c\n\nd\re").lines { lines.append(line) }
        #expect(lines == ["a", "bc", "", "d", "e"])
    }

    @Test func `events have a type, data and an ID`() async throws {
        var events: [ServerSentEvent] = []
        for try await event in stream("id: 1\ndata: a\nda", "ta: b\n\n", ": x\nevent: e\ndata: c\n\ndata: d")
            .serverSentEvents
        {
            events.append(event)
        }
        #expect(events.map(\.data) == ["a\nb", "c"] && events.map(\.type) == ["message", "e"])
        #expect(events.map(\.lastEventID) == ["1", "1"])
    }

    @Test func `a stream that ends is requested again after a pause, from the last event on`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(
            answer("id: 7\nretry: 1000\ndata: a\n\n"),
            .failure(.connectionLost),
            .response(503),
            answer("data: b\n\nid: 8\n\n"),
            .response(204)
        )
        let reading = Task {
            var data: [String] = []
            for try await event in stub.events(of: .example, clock: clock) { data.append(event.data) }
            return data
        }
        try await clock.pass([1, 2, 4, 1], before: stub)
        #expect(try await reading.value == ["a", "b"])
        #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == [nil, "7", "7", "7", "8"])
        #expect(stub.requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
    }

    @Test func `a server that asks for no pause gets a short one, which failures double`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(
            answer("retry: 0\n\n"),
            answer("data: a\n\n"),
            .failure(.connectionLost),
            .response(503),
            .response(204)
        )
        let reading = Task { for try await _ in stub.events(of: .example, clock: clock) {} }
        try await clock.pass([0.1, 0.1, 0.2, 0.4], before: stub)
        try await reading.value
        #expect(stub.requests.count == 5)
    }

    @Test func `the time that an unavailable server asks for is waited, up to a minute`() async throws {
        let clock = ManualClock()
        let stub = StubLoader(
            .response(503, headers: ["Retry-After": "7"]),
            .response(429, headers: ["Retry-After": "3600"]),
            answer("data: a\n\n"),
            .response(204)
        )
        let reading = Task { for try await _ in stub.events(of: .example, clock: clock) {} }
        try await clock.pass([7, 60, 3], before: stub)
        try await reading.value
        #expect(stub.requests.count == 4)
    }

    @Test(arguments: [404, 200, 401])
    func `another response ends the events`(status: Int) async throws {
        let stub = StubLoader(.response(HTTPStatus(status), headers: ["Content-Type": "text/html"], body: "x"))
        var iterator = stub.events(of: .example).makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { _ = try await iterator.next() }
        #expect(error?.code == .invalidResponse && error?.response?.status.code == status)
        let type = #"the body has the type "text/html" instead of text/event-stream"#
        #expect(error?.reason == (status == 200 ? type : "the status is \(status) instead of 200"))
        #expect(try await iterator.next() == nil && stub.requests.count == 1)
    }

    @Test func `a reader that is cancelled before the head arrives gets a CancellationError`() async throws {
        let stub = StubLoader()
        let reading = _Concurrency.Task { for try await _ in stub.events(of: .example) {} }
        try await eventually { stub.requests.count == 1 }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        try await eventually { stub.tasksInFlight.isEmpty }
    }

    @Test func `a body that is left with an error is let go at once`() async throws {
        /// Answers with a body that goes on after a line beyond the limit.
        struct Endless: HTTPLoader {
            let ended = Journal<String>()
            func load(_ task: HTTPTask) {
                let (bytes, continuation) = AsyncStream<Data>.makeStream()
                continuation.yield(Data(repeating: 0x61, count: (16 << 20) + 1))
                let stream = HTTPBodyStream(bytes) { [ended] in
                    continuation.finish()
                    ended.add("ended")
                }
                let headers: HTTPHeaders = ["Content-Type": "text/event-stream"]
                let response = HTTPResponse(request: task.request, status: .ok, headers: headers, stream: stream)
                task.complete(with: .success(response))
            }
        }
        let endless = Endless()
        var iterator = endless.events(of: .example).makeAsyncIterator()
        await #expect(throws: URLClientError.self) { _ = try await iterator.next() }
        try await eventually { endless.ended.entries == ["ended"] }
        #expect(try await iterator.next() == nil)
    }

    @Test func `cancelling the reader ends the request, and the pause`() async throws {
        let (stub, clock) = (StubLoader(.failure(.cannotConnect), .pending), ManualClock())
        for isPausing in [true, false] {
            let reading = Task { for try await _ in stub.events(of: .example, clock: clock) {} }
            if isPausing {
                try await clock.waitForSleepers()
            } else {
                try await eventually { stub.requests.count == 2 }
            }
            reading.cancel()
            await #expect(throws: (any Error).self) { try await reading.value }
            try await eventually { stub.tasksInFlight.isEmpty && clock.sleeperCount == 0 }
        }
        #expect(stub.requests.count == 2)
    }
}
