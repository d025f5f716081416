import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct InterceptTests {
    private enum Local {
        @TaskLocal static var name = ""
    }

    private struct Failure: Error {}

    @Test func `a closure changes the request and looks at the response`() async throws {
        let stub = StubLoader { .response(body: $0.headers["X-Region"] ?? "") }
        let chain =
            Intercept { request, next in
                var request = request
                request.headers["X-Region"] = "eu"
                let response = try await next(request)
                return HTTPResponse(request: request, status: response.status, body: response.body + Array("!".utf8))
            } --> Retry() --> stub
        #expect(try await chain.load(.example).get().text == "eu!")
    }

    @Test func `it can answer by itself, and call the rest of the chain again`() async throws {
        let stub = StubLoader(.response(503), .response(200))
        let chain =
            Intercept { request, next in
                if request.path == "/own" { return HTTPResponse(request: request, status: 418) }
                let first = try await next(request)
                return first.status.isSuccess ? first : try await next(request)
            } --> stub
        #expect(try await chain.load(HTTPRequest(host: "host", path: "/own")).get().status == 418)
        #expect(stub.requests.isEmpty)
        #expect(try await chain.load(.example).get().status == .ok)
        #expect(stub.requests.count == 2)
    }

    @Test func `errors keep their codes`() async throws {
        let timedOut = Intercept { try await $1($0) } --> StubLoader(.failure(.timedOut))
        let own = Intercept { _, _ in throw Failure() } --> StubLoader()
        let cancelled = Intercept { _, _ in throw CancellationError() } --> StubLoader()
        for (chain, code) in [(timedOut, HTTPError.Code.timedOut), (own, .unknown), (cancelled, .cancelled)] {
            let error = await #expect(throws: HTTPError.self) { try await chain.load(.example).get() }
            #expect(error?.code == code)
        }
        let error = await #expect(throws: HTTPError.self) { try await own.load(.example).get() }
        #expect(error?.underlying is Failure)
        let endless = Intercept { try await $1($0) }
        #expect(
            await #expect(throws: HTTPError.self) { try await endless.load(.example).get() }?.code == .cannotConnect
        )
    }

    @Test func `cancelling goes through the closure to the execution below`() async throws {
        let stub = StubLoader()
        let task = (Intercept { try await $1($0) } --> Retry() --> stub).load(.example)
        try await eventually { stub.requests.count == 1 }
        task.cancel()
        #expect(await task.result.failureCode == .cancelled)
        try await eventually { stub.tasksInFlight.isEmpty }
    }

    @Test func `the closure decides how a cancelled request ends`() async throws {
        let stub = StubLoader()
        let chain =
            Intercept { request, next in
                (try? await next(request)) ?? HTTPResponse(request: request, status: 299)
            } --> stub
        let task = chain.load(.example)
        try await eventually { stub.requests.count == 1 }
        task.cancel()
        #expect(try await task.value.status == 299)
    }

    @Test func `completing a request from above ends the execution below`() async throws {
        let stub = StubLoader()
        let task = (Intercept { try await $1($0) } --> stub).load(.example)
        try await eventually { stub.requests.count == 1 }
        task.fail(.timedOut)
        try await eventually { stub.tasksInFlight.isEmpty }
        #expect(task.codeNow == .timedOut)
    }

    @Test func `what is complete goes no further, and the closure learns how it ended`() async throws {
        let (stub, codes, goesOn) = (StubLoader(), Journal<HTTPError.Code?>(), Deferred<Void>())
        let chain =
            Intercept { request, next in
                await goesOn.value
                do {
                    return try await next(request)
                } catch {
                    codes.add((error as? HTTPError)?.code)
                    throw error
                }
            } --> stub
        let task = chain.load(.example)
        task.fail(.timedOut)
        goesOn.fill()
        try await eventually { !codes.entries.isEmpty }
        #expect(codes.entries == [.timedOut])
        #expect(stub.requests.isEmpty)
    }

    @Test func `task-local values are those of the caller of load`() async throws {
        let names = Journal<String>()
        let chain =
            Intercept { request, next in
                names.add(Local.name)
                return try await next(request)
            } --> StubLoader(.response())
        _ = try await Local.$name.withValue("caller") { chain.load(.example) }.get()
        #expect(names.entries == ["caller"])
    }

    @Test func `progress passes through`() async throws {
        let stub = StubLoader()
        let task = (Intercept { try await $1($0) } --> stub).load(.example).task
        try await eventually { stub.tasksInFlight.count == 1 }
        stub.tasksInFlight[0].report(completed: 1, of: 4)
        #expect(abs(task.progress.fractionCompleted - 0.25) < 1e-6)
        stub.tasksInFlight[0].succeed(.ok)
        _ = try await task.value
    }

    @Test func `next may escape into child tasks`() async throws {
        let stub = StubLoader { .response(body: $0.path) }
        let kept = Lock<Intercept.Next?>(nil)
        let chain =
            Intercept { request, next in
                kept.withLock { $0 = next }
                return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                    for path in ["/a", "/b"] {
                        group.addTask { try await next(HTTPRequest(host: "host", path: path)) }
                    }
                    var texts: [String] = []
                    for try await response in group { texts.append(response.text) }
                    return HTTPResponse(request: request, status: .ok, body: Data(texts.sorted().joined().utf8))
                }
            } --> stub
        #expect(try await chain.load(.example).get().text == "/a/b")
        let next = try #require(kept.withLock { $0.take() })
        await #expect(throws: HTTPError.self) { _ = try await next(.example) }
        #expect(stub.requests.count == 2)
    }

    @Test func `next throws a cancellation after the end, however that came about`() async throws {
        struct Refusal: Error {}
        let kept = Lock<Intercept.Next?>(nil)
        let chain =
            Intercept { _, next in
                kept.withLock { $0 = next }
                throw Refusal()
            } --> StubLoader()
        guard case .failure(let error) = await chain.load(.example).result, error.underlying is Refusal else {
            Issue.record("it has not failed with the closure's error")
            return
        }
        let next = try #require(kept.withLock { $0.take() })
        do {
            _ = try await next(.example)
            Issue.record("it succeeded")
        } catch {
            #expect(error.code == .cancelled)
        }
    }

    @Test func `a closure that resets its chain does not wait for its own request`() async {
        let (own, clock, journal) = (ChainReference(), ManualClock(), Journal<String>())
        defer { own.chain = nil }
        let signingOut = Intercept { request, next in
            let response = try await next(request)
            journal.add("response")
            await own.chain?.reset().value
            journal.add("reset")
            return response
        }
        let autocancel = Autocancel(clock: clock)
        let made =
            ResetGuard() --> autocancel --> Retry() --> signingOut --> autocancel --> StubLoader(.response(401))
        own.chain = made
        let task = made.load(.example)
        // Without a limit of time, since the clock stands still.
        await #expect(throws: HTTPError.self) { try await task.value }
        #expect(task.codeNow == .cancelled)
        await made.reset().value
        try? await eventually { journal.entries == ["response", "reset"] }
    }

    @Test func `a closure that resets its chain leaves to others how they end`() async throws {
        let (own, held) = (ChainReference(), Journal<HTTPTask>())
        defer { own.chain = nil }
        let signingOut = Intercept { request, next in
            if request.path == "/sign-out" { await own.chain?.reset().value }
            return try await next(request)
        }
        let made = Autocancel(clock: ManualClock()) --> signingOut --> Holder(tasks: held)
        own.chain = made
        let other = made.load(HTTPRequest(host: "host", path: "/other"))
        try await eventually { held.entries.count == 1 }
        await #expect(throws: HTTPError.self) {
            try await made.load(HTTPRequest(host: "host", path: "/sign-out")).value
        }
        try await eventually { other.isCancelled }
        // The loader that holds it has a response, although it was told to stop.
        held.entries[0].succeed(.ok)
        #expect(try await other.value.status == .ok)
    }

    /// Holds tasks for ever.
    private struct Holder: HTTPLoader {
        let tasks: Journal<HTTPTask>

        func load(_ task: HTTPTask) { tasks.add(task) }
    }
}

extension HTTPResult {
    var failureCode: HTTPError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
