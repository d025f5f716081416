import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Exchange", .ownThread, .timeLimit(.minutes(5)))
struct ExchangeTests {
    typealias Outcome = Result<(Data, ResponseHead), any Error>

    private func request(_ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "http://host" + path)))
    }

    private func outcome(
        of request: URLRequest,
        on session: URLSession,
        limit: Int64? = nil,
        started: (Exchange) -> Void = { _ in }
    ) async throws -> Outcome {
        let retained = URLSessionEngine.retainedEngine(for: session)
        let checked = try CheckedRequest(request).fitted(to: retained.engine)
        return await withCheckedContinuation { continuation in
            started(Exchange.gather(checked, on: retained, limit: limit) { continuation.resume(returning: $0) })
        }
    }

    @Test func `response, data and completion reach the receiver`() async throws {
        let (data, response) = try await outcome(of: request("/ok"), on: StubProtocol.session()).get()
        #expect(data == Data("hello".utf8))
        #expect(response.status == 200)
    }

    // On Darwin the task would be made on that session, which raises an exception.
    #if canImport(FoundationNetworking)
    @Test func `an exchange on an invalidated session still runs`() async throws {
        let session = StubProtocol.session()
        session.invalidateAndCancel()
        let (data, _) = try await outcome(of: request("/ok"), on: session).get()
        #expect(data == Data("hello".utf8))
    }

    #endif

    @Test func `a stream is told of once, however its head races with a cancellation`() throws {
        let head = ResponseHead(url: try #require(URL(string: "http://host/")), status: 200)
        for _ in 0..<2_000 {
            let (made, results) = (Log<(Exchange, Int)>(), Log<Bool>())
            let engine = StubEngine { _, exchange, number in
                made.add((exchange, number))
                return StubTask()
            }
            let exchange = Exchange.begin(
                .checked(try request("/")),
                on: RetainedEngine(engine),
                to: StreamReceiver(StreamBuffer(URLClient.Configuration()), onProgress: { _ in })
            ) { result, conclude in
                results.add((try? result.get()) != nil)
                if case .failure(let error) = result { conclude(error) }
            }
            let (_, number) = try #require(made.entries.first)
            race(2) { if $0 == 0 { exchange.receive(head, nil, of: number) } else { exchange.cancel() } }
            #expect(results.entries.count == 1)
        }
    }

    @Test func `a cancelled exchange ends at once with the failing URL`() async throws {
        let request = try request("/hang")
        let outcome = try await outcome(of: request, on: StubProtocol.session()) { $0.cancel() }
        let error = #expect(throws: URLError.self) { try outcome.get() }
        #expect(error?.code == .cancelled)
        #expect(error?.failingURL == request.url)
    }

    @Test func `a body beyond the limit ends the exchange with that error`() async throws {
        let outcome = try await outcome(of: request("/ok"), on: StubProtocol.session(), limit: 4)
        let error = #expect(throws: URLClientError.self) { try outcome.get() }
        #expect(error == .bodyTooLarge(limit: 4))
    }

    @Test func `a request that cannot be sent ends before begin returns`() throws {
        var request = try request("/ok")
        request.timeoutInterval = .infinity
        #expect(StubProtocol.session().beginDataTask(with: request).isFilled)
        let file = FileManager.default.temporaryDirectory.appending(path: "none")
        #expect(StubProtocol.session().beginDownloadTask(with: request, to: file).isFilled)
    }

    @Test func `the task is configured before it is resumed`() async throws {
        let state = Lock<URLSessionTask.State?>(nil)
        let configure: @Sendable (URLSessionTask) -> Void = { task in
            task.taskDescription = "mine"
            state.withLock { $0 = task.state }
        }
        _ = try await StubProtocol.session().beginDataTask(with: request("/ok"), configure: configure).get()
        #expect(state.withLock { $0 } == .suspended)
    }

    @Test func `the session's additional headers are sent, and those of the request win`() async throws {
        let session = StubProtocol.session(headers: ["X-Echo": "session"])
        var request = try request("/echo")
        let (first, _) = try await outcome(of: request, on: session).get()
        #expect(String(decoding: first, as: UTF8.self) == "session")
        request.setValue("request", forHTTPHeaderField: "X-Echo")
        let (second, _) = try await outcome(of: request, on: session).get()
        #expect(String(decoding: second, as: UTF8.self) == "request")
    }

    @Test func `a session's additional header that would inject another is refused`() async throws {
        let session = StubProtocol.session(headers: ["X-A: 1\r\nX-B": "v"])
        await #expect(throws: URLClientError.self) { try await outcome(of: request("/ok"), on: session) }
    }

    @Test(arguments: 0..<10)
    func `cancelling from many threads ends each exchange once`(round: Int) async throws {
        let session = StubProtocol.session()
        let request = try request(round.isMultiple(of: 2) ? "/hang" : "/ok?\(round)")
        // A second end would resume the continuation twice, which traps.
        _ = try await outcome(of: request, on: session) { exchange in
            guard round.isMultiple(of: 2) else { return }
            DispatchQueue.concurrentPerform(iterations: 8) { _ in exchange.cancel() }
        }
    }

    @Test func `an ended exchange retains neither its delegate nor its completion`() async throws {
        final class Captured: ExchangeDelegate {}
        weak var weakDelegate: Captured?
        weak var weakCaptured: Captured?
        let exchange = Lock<Exchange?>(nil)
        let request = try request("/hang")
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let (captured, delegate) = (Captured(), Captured())
            (weakCaptured, weakDelegate) = (captured, delegate)
            let started = Exchange.gather(
                .checked(request),
                on: URLSessionEngine.retainedEngine(for: StubProtocol.session()),
                delegate: delegate
            ) { _ in
                withExtendedLifetime(captured) {}
                continuation.resume()
            }
            exchange.withLock { $0 = started }
            started.cancel()
        }
        // The platform's final event for the cancelled task comes after the end.
        try await eventually { weakCaptured == nil && weakDelegate == nil }
        #expect(exchange.withLock { $0 } != nil)
    }

    @Test func `one session has one engine, which goes with it`() {
        weak var engine: (any Engine)?
        do {
            let session = StubProtocol.session(delegateQueue: .main)
            do {
                let first = URLSessionEngine.retainedEngine(for: session)
                let second = URLSessionEngine.retainedEngine(for: session)
                engine = first.engine
                #expect(first.engine === second.engine)
                #expect(first.engine !== URLSessionEngine.retainedEngine(for: StubProtocol.session()).engine)
            }
            #expect(engine != nil)
            withExtendedLifetime(session) {}
        }
        _ = URLSessionEngine.retainedEngine(for: StubProtocol.session())
        #expect(engine == nil)
    }
}
