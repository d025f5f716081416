import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Tests of each loader with a response that is a stream or a file.
///
/// | loader | rule | test |
/// |---|---|---|
/// | `Retry` | tries again while it has only the head, and drops that body | `a retry` |
/// | `Retry` | leaves failures of the body to its reader | `a failure within the body is not retried` |
/// | `BearerAuthentication` | drops the body of a 401, and loads once more | `a refused token` |
/// | `Validate` | looks at the head; the error has the body | `a status that is not accepted` |
/// | `Throttle` | a stream keeps its place until its end | `a throttle` |
/// | `Deduplicate` | merges neither streams nor files | `nothing merges streams` |
/// | `Autocancel` | a reset ends a stream that is being read | `a reset` |
/// | `Deadline` | holds for the body, too | `a stream has to be read in time` (``DeadlineTests``) |
/// | `Log` | ends with the body | `a stream ends when it has been read` (``LogEventsTests``) |
/// | `Intercept` | the closure gets the head | `an intercepting closure` |
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct DeliveryTests {
    private let request: HTTPRequest = {
        var request = HTTPRequest.example
        request.delivery = .stream
        return request
    }()

    /// Returns an answer whose body starts with "a" and never ends, and which records its cancellation.
    private func fed(_ status: HTTPStatus = .ok, _ cancels: Journal<Int> = .init()) -> StubLoader.Answer {
        .response(
            status,
            stream: { HTTPBodyStream(AsyncStream<Data> { $0.yield(Data("a".utf8)) }, onCancel: { cancels.add(1) }) }
        )
    }

    @Test func `a retry`() async throws {
        let (cancels, last) = (Journal<Int>(), StubLoader.Answer.response(200, body: "whole"))
        let stub = StubLoader(fed(503, cancels), last)
        let response = try await (Retry(.custom { $0.response?.status == 503 ? .zero : nil }) --> stub).load(request)
            .get()
        #expect(try await response.stream?.collect() == Data("whole".utf8))
        #expect(stub.requests.count == 2 && cancels.entries == [1])
    }

    @Test func `a failure within the body is not retried`() async throws {
        struct Failure: Error {}
        let failing = StubLoader.Answer.response(
            stream: { HTTPBodyStream(AsyncThrowingStream<Data, any Error> { throw Failure() }) }
        )
        let stub = StubLoader(failing)
        let response = try await (Retry() --> stub).load(request).get()
        await #expect(throws: Failure.self) { try await response.stream?.collect() }
        #expect(stub.requests.count == 1)
    }

    @Test func `a refused token`() async throws {
        let cancels = Journal<Int>()
        let stub = StubLoader(fed(401, cancels), .response(200, body: "whole"))
        let chain = BearerAuthentication(token: "a", hosts: ["example.com"]) { _ in .success("b") } --> stub
        #expect(try await chain.load(request).get().stream?.collect() == Data("whole".utf8))
        #expect(cancels.entries == [1])
    }

    @Test func `a status that is not accepted`() async throws {
        let chain = Validate() --> StubLoader(.response(404, body: "why"))
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request).get() }
        #expect(try await error?.response?.stream?.collect() == Data("why".utf8))
    }

    @Test func `a throttle`() async throws {
        let (throttle, stub) = (Throttle(maximum: 1), StubLoader(fed(), .response()))
        let chain = throttle --> stub
        let response = try await chain.load(request).get()
        let waiting = chain.load(.example)
        #expect(throttle.waitingCount == 1 && waiting.peek() == nil)
        response.stream?.cancel()
        #expect(waiting.statusNow == .ok)
    }

    @Test func `a throttle, and a status that is not accepted`() throws {
        let throttle = Throttle(maximum: 1)
        let chain = throttle --> Validate() --> StubLoader(fed(404), .response())
        let refused = chain.load(request)
        let waiting = chain.load(.example)
        #expect(throttle.waitingCount == 1 && waiting.peek() == nil)
        guard case .failure(let error) = try #require(refused.peek()) else { return }
        error.response?.stream?.cancel()
        #expect(waiting.statusNow == .ok)
    }

    @Test func `a throttle gets its place back from a stream that nobody reads`() async throws {
        let throttle = Throttle(maximum: 1)
        let chain = throttle --> StubLoader(fed(), .response())
        do { _ = try await chain.load(request).get() }
        #expect(chain.load(.example).statusNow == .ok)
    }

    @Test func `nothing merges streams`() throws {
        let folder = try TemporaryDirectory()
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        var file = HTTPRequest.example
        file.delivery = .file(folder.file)
        let tasks = [request, request, file, file].map { chain.load($0) }
        #expect(stub.requests.count == 4 && tasks.count == 4)
    }

    @Test func `a reset`() async throws {
        let (cancels, stub) = (Journal<Int>(), StubLoader())
        let chain = ResetGuard() --> Autocancel() --> stub
        let answered = ResetGuard() --> Autocancel() --> StubLoader(fed(200, cancels))
        let response = try await answered.load(request).get()
        var iterator = try #require(response.stream).makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(answered.reset().isFilled && cancels.entries == [1])
        await #expect(throws: CancellationError.self) { try await iterator.next() }
        #expect(chain.reset().isFilled)
    }

    @Test func `an intercepting closure`() async throws {
        let chain = Intercept { try await $1($0) } --> StubLoader(.response(201, body: "whole"))
        let response = try await chain.load(request).get()
        #expect(response.status == .created)
        #expect(try await response.stream?.collect() == Data("whole".utf8))
    }

    @Test func `a stub writes files`() async throws {
        let folder = try TemporaryDirectory()
        var request = HTTPRequest.example
        request.delivery = .file(folder.file)
        let response = try await StubLoader(.response(body: "whole")).load(request).get()
        #expect(try response.file == folder.file && String(contentsOf: folder.file, encoding: .utf8) == "whole")
        let refused = try await StubLoader(.response(404, body: "why")).load(request).get()
        #expect(refused.file == nil && refused.text == "why")
        #expect(StubLoader(fed()).load(request).codeNow == .unknown)
    }

    @Test func `more than is wanted is not collected`() async throws {
        let cancels = Journal<Int>()
        let response = try await StubLoader(fed(200, cancels)).load(request).get()
        await #expect(throws: URLClientError.bodyTooLarge(limit: 0)) { try await response.stream?.collect(upTo: 0) }
        #expect(cancels.entries == [1])
    }
}
