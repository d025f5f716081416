import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CompositesTests {
    @Test func `a router sends requests to the first route that takes them`() {
        let stubs = (1...3).map { StubLoader(.response(HTTPStatus(200 + $0))) }
        let chain =
            Retry() --> Router(.host("A.example", stubs[0]), .init(stubs[1]) { $0.path == "/b" }) --> Validate()
            --> stubs[2]
        let requests = [("a.EXAMPLE", "/b"), ("b.example", "/b"), ("b.example", "/")]
        #expect(requests.map { chain.load(HTTPRequest(host: $0, path: $1)).statusNow?.code } == [201, 202, 203])
        #expect((chain --> StubLoader(.response(204))).load(.example).statusNow == 204)
        #expect(Router().load(.example).codeNow == .cannotConnect)
    }

    @Test func `a reset comes to all routes, and forgets their tokens`() {
        let (stub, refreshes) = (StubLoader(.response()), Journal<Int>())
        let bearer = BearerAuthentication(token: "old", hosts: ["example.com"]) { _ in
            refreshes.add(1)
            return .success("new")
        }
        let chain = Autocancel() --> Router(.host("example.com", bearer --> stub)) --> stub
        #expect(chain.load(.example).statusNow == .ok && refreshes.entries.isEmpty)
        #expect(chain.reset().isFilled && stub.resetCount == 2)
        #expect(chain.load(.example).statusNow == .ok && refreshes.entries == [1])
    }

    @Test func `a fallback loads what found no connection, and nothing else`() {
        let (first, second) = (StubLoader(.failure(.cannotConnect), .failure(.timedOut)), StubLoader(.response(201)))
        let chain = Retry(.never) --> Fallback(to: second) --> first
        #expect(chain.load(.example).statusNow == 201 && chain.load(.example).codeNow == .timedOut)
        #expect(second.requests.count == 1)
        #expect(chain.reset().isFilled && first.resetCount == 1 && second.resetCount == 1)
    }

    @Test func `a fallback decides by a closure, and drops the response`() async throws {
        let cancels = Journal<Int>()
        let busy = StubLoader.Answer.response(
            503,
            stream: { HTTPBodyStream(AsyncStream<Data> { _ in }, onCancel: { cancels.add(1) }) }
        )
        var request = HTTPRequest.example
        request.delivery = .stream
        let chain =
            Fallback(to: StubLoader(.response(body: "mirror")), when: { (try? $0.get().status.code) == 503 })
            --> StubLoader(busy)
        #expect(try await chain.load(request).get().stream?.collect() == Data("mirror".utf8))
        #expect(cancels.entries == [1])
    }

    @Test func `a cancelled request, and one that can be sent once, go to no other loader`() {
        let (first, second) = (StubLoader(), StubLoader())
        let chain = Fallback(to: second, when: { _ in true }) --> first
        let task = chain.load(.example)
        task.cancel()
        #expect(task.codeNow == .cancelled)
        var request = HTTPRequest(.post, host: "host")
        request.body = .stream(AsyncStream<Data> { $0.finish() })
        let once = chain.load(request)
        first.tasksInFlight[0].fail(.cannotConnect)
        #expect(once.codeNow == .cannotConnect && second.requests.isEmpty)
        let other = chain.load(.example)
        first.tasksInFlight[0].fail(.cannotConnect)
        other.cancel()
        #expect(other.codeNow == .cancelled && second.tasksInFlight.isEmpty && second.requests.count == 1)
    }
}
