// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/TestingYourCode.md.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TestingYourCodeSnippets {
    @Test func `Time`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 24)









        let clock = ManualClock()
        let slow = Task<Int>.never.timeout(after: .seconds(5), clock: clock)

        try await clock.waitForSleepers()  // until a task sleeps on this clock
        clock.advance(by: .seconds(4))
        #expect(slow.peek() == nil)

        clock.advance(by: .seconds(1))
        await #expect(throws: TimeoutError.self) { try await slow.value }
#sourceLocation()
    }

    @Test func `Time, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 50)
        let clock = ManualClock()
        let attempts = Mutex(0)
        let policy = RetryPolicy(attempts: 3, base: .seconds(1), clock: clock, random: { 1 })
        let task = Task<Int>.retry(policy) { attempt in
            attempts.withLock { $0 = attempt }
            return .failure(URLError(.cannotConnectToHost))
        }

        try await clock.waitForSleepers()
        #expect(clock.nextDeadline == .init(offset: .seconds(1)))
        clock.advanceToNextDeadline()
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline == .init(offset: .seconds(3)))  // pauses double
        clock.advanceToNextDeadline()

        await #expect(throws: URLError.self) { try await task.value }
        #expect(attempts.withLock { $0 } == 3)
#sourceLocation()
    }

    @Test func `Delivery`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 75)
        let executor = ManualExecutor()
        let answer = Deferred<Int>()
        let shown = Mutex<[Int]>([])
        let registration = answer.upon(executor) { value in shown.withLock { $0.append(value) } }

        answer.fill(with: 42)
        #expect(executor.count == 1)  // on its way

        registration.cancel()
        executor.runAll()
        #expect(shown.withLock { $0.isEmpty })
#sourceLocation()
    }

    @Test func `The network`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 94)
        let server = try LoopbackServer { request in
            switch request.path {
            case "/user": .json(#"{"name": "Ada"}"#)
            case "/slow": .response(body: "hello").dripped(every: .milliseconds(1))  // byte by byte, with the head
            case "/short": .response(body: "Hel", contentLength: 5) + [.close]
            case "/stall": .response(body: "Hel", contentLength: 5) + [.stall]
            case "/reset": [.reset]
            default: .response(404)
            }
        }
        defer { server.stop() }
        let client = URLClient()

        let (body, _) = try await client.begin(server.url("/slow")).value
        #expect(body == Data("hello".utf8))
        await #expect(throws: URLClientError.unacceptableStatus(code: 404, body: Data())) {
            try await client.begin(server.url("/nothing")).value
        }

        var request = URLRequest(url: server.url("/short"))
        request.httpMethod = "POST"  // not tried again
        await #expect(throws: URLClientError.truncatedBody(received: 3, expected: 5)) {
            try await client.upload(request, from: .data(Data("x".utf8))).value
        }
        #expect(server.requests.map(\.path) == ["/slow", "/nothing", "/short"])
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `The network, 2`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 126)
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 300_000)) }
        defer { server.stop() }
        let (body, _) = try await URLSession.shared.beginDataTask(with: server.url()).value
        #expect(body == LoopbackServer.Payload.patternBytes(0..<300_000))
#sourceLocation()
    }

    @Test func `The network, 3`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 137)
        let arrived = Deferred<Void>()
        let server = try LoopbackServer { _ in
            arrived.fill()
            return [.stall]
        }
        defer { server.stop() }

        let task = URLSession.shared.beginDataTask(with: server.url())
        try await arrived.get()
        task.cancel()
        let error = await #expect(throws: URLError.self) { try await task.value }
        #expect(error?.code == .cancelled)
#sourceLocation()
    }

    @Test func `HTTP chains`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 157)
        let chain = Validate() --> Retry() --> URLSessionLoader()
        let stub = StubLoader(.response(404))

        let task = (chain --> stub).load(HTTPRequest(host: "example.com", path: "/user"))
        let error = await #expect(throws: HTTPError.self) { try await task.task.value }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == .notFound)
        #expect(stub.requests.map(\.path) == ["/user"])
#sourceLocation()
    }

    @Test func `Tasks as test doubles`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/TestingYourCode.md", line: 174)
        func greeting(for name: Task<String>) -> Task<String> {
            name.map { "Hello, \($0)" }.recover { _ in "Hello, stranger" }
        }

        #expect(try await greeting(for: .success("Ada")).value == "Hello, Ada")
        #expect(try await greeting(for: .failure(URLError(.timedOut))).value == "Hello, stranger")

        let name = Task<String>.Promise()
        let pending = greeting(for: Task(name))
        #expect(pending.peek() == nil)
        name.succeed(with: "Grace")
        #expect(try pending.peek()?.get() == "Hello, Grace")
#sourceLocation()
    }
}
