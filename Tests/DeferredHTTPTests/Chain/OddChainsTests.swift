import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Chains as somebody might build them who has read the documentation only: odd orders, loaders in several chains,
/// numbers out of range, and cancels and resets at moments that nobody thinks of.
@Suite(.ownThread, .timeLimit(.minutes(3)))
struct OddChainsTests {
    private let request = HTTPRequest.example

    // MARK: Orders

    @Test func `every order of the loaders gives the response, and releases everything`() async throws {
        var generator = SeededGenerator(seed: 15)
        for _ in 0..<60 {
            let (throttle, stub) = (Throttle(maximum: 1), StubLoader(.response(503), .response(200, body: "whole")))
            var links: [any HTTPLink] = [
                ResetGuard(), Autocancel(), Retry(clock: ImpatientClock()), throttle, Deduplicate(),
                BearerAuthentication(token: "a") { _ in .success("b") }, BasicAuthentication(user: "a", password: "b"),
                ApplyEnvironment(HTTPEnvironment(host: "example.com")), ModifyRequest { $0.headers["X-One"] = "1" },
                Deadline(.seconds(1_000)), RateLimit(requestsPerSecond: 1e9, burst: 100), Log { _ in },
                Intercept { try await $1($0) },
            ]
            links.shuffle(using: &generator)
            let chain = links.dropLast().reversed().reduce(attached(links[12], stub)) { attached($1, $0) }
            #expect(try await chain.load(HTTPRequest(path: "/")).get().text == "whole")
            #expect(stub.requests.count == 2 && stub.requests.allSatisfy { $0.host == "example.com" })
            // The response may be there before the loaders on the way back have returned.
            try await eventually { stub.tasksInFlight.isEmpty && throttle.waitingCount == 0 }
            await chain.reset().value
            #expect(try await chain.load(HTTPRequest(path: "/")).get().status == .ok)
        }
    }

    private func attached(_ link: any HTTPLink, _ next: any HTTPLoader) -> any HTTPLoader {
        link --> next
    }

    @Test func `retries around retries multiply, and a cancel in the inner pause ends both`() async throws {
        let (stub, clock) = (StubLoader(.response(503)), ManualClock())
        let strategy = RetryStrategy.custom { $0.number < 3 ? .zero : nil }
        #expect(try await (Retry(strategy) --> Retry(strategy) --> stub).load(request).get().status.code == 503)
        #expect(stub.requests.count == 9)
        let pausing = Retry(strategy) --> Retry(.custom { _ in Duration.seconds(Int64.max) }, clock: clock) --> stub
        let task = pausing.load(request)
        #expect(task.peek() == nil)
        task.cancel()
        #expect(task.codeNow == .cancelled && stub.requests.count == 10)
    }

    @Test func `a chain is a loader like any other, in the middle of another one`() async throws {
        struct Both: HTTPLoader {
            let first: any HTTPLoader
            let second: any HTTPLoader

            func load(_ task: HTTPTask) {
                task.pass(task.request, to: first) { result in
                    if case .success = result { return _ = task.complete(with: result) }
                    task.pass(task.request, to: second)
                }
            }
        }
        let (broken, pending) = (StubLoader(.failure(.cannotConnect)), StubLoader())
        let chain = Validate() --> Both(first: Retry(.never) --> broken, second: Throttle(maximum: 1) --> pending)
        let task = chain.load(request)
        #expect(pending.requests.count == 1)
        task.cancel()
        #expect(task.codeNow == .cancelled && pending.tasksInFlight.isEmpty)
    }

    // MARK: One loader in two chains

    @Test func `a throttle in two chains counts both, and a reset of one leaves the other alone`() async throws {
        let (throttle, here, there) = (Throttle(maximum: 1), StubLoader(), StubLoader(.response(200)))
        let one = ResetGuard() --> Autocancel() --> throttle --> here
        let other = ResetGuard() --> Autocancel() --> throttle --> there
        let running = one.load(request)
        let waiting = (0..<3).map { _ in other.load(request) }
        #expect(throttle.waitingCount == 3 && there.requests.isEmpty)
        waiting[1].cancel()
        await one.reset().value
        #expect(running.codeNow == .cancelled && waiting[1].codeNow == .cancelled)
        #expect(waiting[0].statusNow == .ok && waiting[2].statusNow == .ok && there.requests.count == 2)
    }

    @Test func `one token for two chains is fetched once`() async throws {
        let (refreshes, promise) = (Journal<String?>(), DeferredTask.Task<String>.Promise())
        let bearer = BearerAuthentication { refused in
            refreshes.add(refused)
            return DeferredTask.Task(promise)
        }
        let stubs = [StubLoader(.response(200)), StubLoader(.response(200))]
        let tasks = stubs.flatMap { stub in (0..<5).map { _ in (bearer --> stub).load(HTTPRequest(path: "/")) } }
        tasks[3].cancel()
        promise.succeed(with: "token")
        #expect(tasks.enumerated().allSatisfy { $1.isFilled && ($0 == 3) == ($1.codeNow == .cancelled) })
        #expect(refreshes.entries == [nil] && stubs.map(\.requests.count) == [4, 5])
    }

    @Test func `one merging loader in two chains merges across them`() throws {
        let (deduplicate, stub, other) = (Deduplicate(), StubLoader(), StubLoader())
        let tasks = [(deduplicate --> stub).load(request), (deduplicate --> other).load(request)]
        #expect(stub.requests.count == 1 && other.requests.isEmpty && deduplicate.mergedCount == 1)
        tasks[0].cancel()
        try #require(stub.tasksInFlight.first).succeed(204)
        #expect(tasks[0].codeNow == .cancelled && tasks[1].statusNow == .noContent)
    }

    @Test func `the same task loaded twice ends once`() {
        let stub = StubLoader(.response(200), .pending)
        let task = HTTPTask(request)
        let completions = task.completions()
        let chain = Retry() --> Throttle(maximum: 1) --> stub
        chain.load(task)
        chain.load(task)
        #expect(completions.entries.count == 1 && task.statusNow == .ok && stub.requests.count == 1)
    }

    // MARK: Cancels and resets in between

    @Test func `a reset out of a completion handler, and a request out of that reset, find an open chain`() async throws
    {
        let stub = StubLoader(.response(200))
        let chain = ResetGuard() --> Autocancel() --> Throttle(maximum: 1) --> stub
        let statuses = Journal<HTTPStatus?>()
        let done = Deferred<Void>()
        chain.load(request) { _ in
            chain.reset().upon(.immediate) {
                chain.load(HTTPRequest.example) { result in
                    statuses.add(try? result.get().status)
                    done.fill()
                }
            }
        }
        await done.value
        #expect(statuses.entries == [.ok] && stub.requests.count == 2)
    }

    @Test func `a cancel at any step of a chain ends the request once, and leaves nothing behind`() async throws {
        for step in 0..<6 {
            let (throttle, stub) = (Throttle(maximum: 1), StubLoader(.response(503), .pending))
            let handle = Lock<HTTPTask?>(nil)
            let canceller: @Sendable (Int) -> ModifyRequest = { number in
                ModifyRequest { _ in if number == step { handle.withLock { $0 }?.cancel() } }
            }
            let strategy = RetryStrategy.custom { attempt in
                if step == 4 { handle.withLock { $0 }?.cancel() }
                return attempt.number < 2 ? .zero : nil
            }
            let chain =
                canceller(0) --> Retry(strategy) --> canceller(1) --> Deduplicate() --> canceller(2) --> throttle
                --> canceller(3) --> stub
            let task = HTTPTask(request)
            let completions = task.completions()
            handle.withLock { $0 = task }
            chain.load(task)
            if step == 5 { task.cancel() }
            handle.withLock { $0 = nil }
            #expect(completions.entries.count == 1, "\(step)")
            #expect(task.codeNow == .cancelled || step == 4, "\(step): \(String(describing: task.peek()))")
            #expect(stub.tasksInFlight.isEmpty && throttle.waitingCount == 0, "\(step)")
            #expect((throttle --> StubLoader(.response(200))).load(request).statusNow == .ok, "\(step)")
        }
    }

    @Test func `cancels, ends and resets at once leave every request ended once`() async throws {
        let throttle = Throttle(maximum: 4)
        let terminal = Later()
        let chain = ResetGuard() --> Autocancel() --> Retry(.never) --> Deduplicate() --> throttle --> terminal
        for round in 0..<20 {
            let ends = Journal<HTTPResult>()
            race(4) { thread in
                for number in 0..<25 {
                    var request = HTTPRequest(host: "example.com", path: "/\(number % 7)")
                    request.isDeduplicated = number % 2 == 0
                    let task = chain.load(request) { ends.add($0) }
                    if (number + thread) % 3 == 0 { task.cancel() }
                    if number == 20, thread == round % 4 { _ = chain.reset() }
                }
            }
            await chain.reset().value
            #expect(ends.entries.count == 100 && throttle.waitingCount == 0)
        }
    }

    @Test func `a request out of each completion handler, ten thousand times, fits a small stack`() async {
        let count = await onThread(stackSize: 512 << 10) {
            let count = Lock(0)
            let chain =
                ResetGuard() --> Autocancel() --> Validate() --> Retry() --> Throttle(maximum: 1)
                --> ModifyRequest { _ in } --> Later.Now()
            @Sendable func next() {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                if number < 10_000 { chain.load(.example) { _ in next() } }
            }
            next()
            return count.withLock { $0 }
        }
        #expect(count == 10_000)
    }

    @Test func `a reset does not let a request begin that waits for one which it cancels`() async {
        /// Lets the first request go on when the second has ended.
        struct Swapped: HTTPLink {
            let first = Swapped.Box()

            final class Box: Sendable { let task = Lock<HTTPTask?>(nil) }

            func load(_ task: HTTPTask, next: any HTTPLoader) {
                let waiting = first.task.withLock { first in
                    defer { if first == nil { first = task } }
                    return first
                }
                guard let waiting else { return }
                task.addCompletionHandler { _ in waiting.pass(to: next) }
                task.pass(to: next)
            }
        }
        let stub = StubLoader()
        let chain = ResetGuard() --> Autocancel() --> Swapped() --> stub
        let tasks = (0..<2).map { _ in chain.load(request) }
        #expect(stub.requests.count == 1)
        await chain.reset().value
        #expect(tasks.map(\.codeNow) == [.cancelled, .cancelled] && stub.requests.count == 1)
    }

    // MARK: Streams and files

    @Test func `a stream keeps its place and its attempt through a whole chain, until a reset`() async throws {
        let (throttle, cancels) = (Throttle(maximum: 1), Journal<Int>())
        let fed = StubLoader.Answer.response(
            stream: { HTTPBodyStream(AsyncStream<Data> { $0.yield(Data("a".utf8)) }, onCancel: { cancels.add(1) }) }
        )
        let stub = StubLoader(.failure(.connectionLost), fed, .response(200))
        let chain =
            ResetGuard() --> Autocancel() --> Retry(clock: ImpatientClock()) --> Deduplicate() --> throttle
            --> Intercept { try await $1($0) } --> stub
        var streamed = request
        streamed.delivery = .stream
        let response = try await chain.load(streamed).get()
        let waiting = chain.load(request)
        #expect(throttle.waitingCount == 1)
        await chain.reset().value
        #expect(waiting.codeNow == .cancelled && throttle.waitingCount == 0 && cancels.entries == [1])
        await #expect(throws: CancellationError.self) { try await response.stream?.collect() }
        #expect(try await chain.load(request).get().status == .ok)
    }

    @Test func `a file is written by the attempt that succeeds, and by each of two equal requests`() async throws {
        let folder = try TemporaryDirectory()
        let stub = StubLoader(.response(503, body: "busy"), .response(200, body: "one"), .response(200, body: "two"))
        let chain =
            Deduplicate() --> Retry(clock: ImpatientClock()) --> Throttle(maximum: 1)
            --> Intercept { try await $1($0) } --> stub
        for (name, text) in [("a", "one"), ("b", "two")] {
            var request = request
            request.delivery = .file(folder.url.appending(path: name))
            let response = try await chain.load(request).get()
            #expect(try String(contentsOf: #require(response.file), encoding: .utf8) == text)
        }
        #expect(try folder.contents() == ["a", "b"])
    }

    // MARK: Numbers

    @Test func `a port that no integer can hold is refused, and not replaced by the scheme's`() throws {
        for origin in ["http://127.0.0.1", "https://user@host", "http://[::1]"] {
            let url = try #require(URL(string: "\(origin):99999999999999999999/x"))
            let error = #expect(throws: URLClientError.self) { try HTTPRequest(url: url).check() }
            #expect(error?.description.contains("is out of range; use 1 to 65535") == true, "\(url)")
        }
    }

    @Test func `numbers out of range neither trap nor hang`() async throws {
        let durations: [Duration] = [
            .seconds(Int64.max), Duration(attoseconds: .max), .seconds(Int64.min), .zero, .nanoseconds(-1),
        ]
        for duration in durations {
            var request = request
            (request.timeout, request.deadline) = (duration, duration)
            let chain =
                Deadline(duration) --> Retry(.custom { $0.number < 3 && duration <= .zero ? duration : nil })
                --> Autocancel(grace: duration) --> StubLoader(.response(503))
            let result = await chain.load(request).result
            #expect((duration > .zero) == ((try? result.get())?.status == 503), "\(duration): \(result)")
        }
        for rate in [Double.infinity, 1e300, .nan, 0, -1, .leastNonzeroMagnitude] {
            for burst in [Int.min, 1_000, .max] {
                let chain = RateLimit(requestsPerSecond: rate, burst: burst) --> StubLoader(.response(200))
                let tasks = (0..<1_000).map { _ in chain.load(request) }
                let passed = tasks.count { $0.isFilled }
                #expect(passed == (burst > 1 || rate > 1 ? 1_000 : 1), "\(rate), \(burst)")
                for task in tasks { task.cancel() }
            }
        }
        for maximum in [Int.min, 0, .max] {
            #expect((Throttle(maximum: maximum) --> StubLoader(.response(200))).load(request).statusNow == .ok)
        }
        for status in [Int.min, 0, 99, .max] {
            let chain = Validate() --> Retry() --> StubLoader(.response(HTTPStatus(status)))
            #expect(chain.load(request).codeNow == .unacceptableStatus)
        }
        let reported = StubLoader.Answer.pending.reporting(.max, of: .max).reporting(.min, of: -1).reporting(-1, of: 0)
        let reporting = (Deduplicate() --> StubLoader(reported)).load(request)
        let fraction = reporting.task.progress.fractionCompleted
        #expect(fraction.isFinite && fraction <= 1 && fraction >= 0)
    }

    // MARK: Secrets

    @Test func `nothing that is printed, dumped or logged of a chain and its requests is a secret`() async throws {
        let secrets = ["s3cr3t", Data("me:s3cr3t".utf8).base64EncodedString()]
        let environment = HTTPEnvironment(
            host: "example.com",
            query: [.init(name: "api_key", value: "s3cr3t")],
            headers: ["X-Api-Key": "s3cr3t"]
        )
        var configuration = URLClient.Configuration()
        configuration.authentication = .basic(user: "me", password: "s3cr3t", when: .always)
        let lines = Journal<String>()
        let links: [any HTTPLink] = [
            BearerAuthentication(token: "s3cr3t") { _ in .success("s3cr3t") },
            BasicAuthentication(user: "me", password: "s3cr3t"), ApplyEnvironment(environment),
        ]
        var url = URLComponents()
        (url.scheme, url.host, url.user, url.password) = ("https", "example.com", "me", "s3cr3t")
        url.queryItems = [.init(name: "token", value: "s3cr3t")]
        var own = HTTPRequest(
            url: try #require(url.url),
            headers: ["Cookie": "id=s3cr3t"],
            body: .form(["a": "s3cr3t"])
        )
        own.environment = environment
        for request in [own, HTTPRequest(path: "/", headers: ["X-Token": "s3cr3t"])] {
            let stub = StubLoader(.response(401, headers: ["Set-Cookie": "id=s3cr3t"], body: "s3cr3t"))
            for link in links {
                let chain =
                    Log.events { lines.add("\($0) \(String(reflecting: $0))") } --> Validate()
                    --> AnyLoader(attached(link, stub))
                let task = chain.load(request)
                for value in [chain, link, task, task.request, task.peek() as Any, environment] as [Any] {
                    var dumped = ""
                    dump(value, to: &dumped)
                    lines.add("\(value) \(String(reflecting: value)) \(dumped)")
                }
            }
            for sent in stub.requests { lines.add("\(sent) \(String(reflecting: sent)) \(sent.headers)") }
        }
        configuration.proxy = .server(try #require(url.url))
        let file = URL(filePath: "/nowhere")
        configuration.tls.clientCertificate = .init(certificate: file, key: file, password: "s3cr3t")
        for value in [URLSessionLoader(configuration: configuration), configuration] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            lines.add("\(value) \(String(reflecting: value)) \(dumped)")
        }
        for line in lines.entries {
            for secret in secrets where line.contains(secret) {
                Issue.record("a secret is told in \(line.prefix(3_000))")
            }
        }
    }

    // MARK: Loaders that break the rules

    @Test func `a loader that passes on twice, completes twice, or never, ends a request once`() {
        struct Rude: HTTPLink {
            let rudeness: Int

            func load(_ task: HTTPTask, next: any HTTPLoader) {
                switch rudeness {
                case 0: for _ in 0..<2 { task.pass(task.request, to: next) }
                case 1: for _ in 0..<2 { task.pass(to: next) }
                case 2:
                    task.pass(task.request, to: next) { _ in }
                case 3: for status in [200, 404] { task.succeed(HTTPStatus(status)) }
                case 4:
                    task.fail(.unknown)
                    task.pass(to: next)
                default: break
                }
            }
        }
        let expected: [(status: HTTPStatus?, code: HTTPError.Code?, count: Int)] = [
            (200, nil, 1), (200, nil, 1), (nil, .abandoned, 1), (200, nil, 0), (nil, .unknown, 0), (nil, .abandoned, 0),
        ]
        for (rudeness, row) in expected.enumerated() {
            let stub = StubLoader(.response(200), .response(500))
            let task = (Autocancel() --> Validate() --> Rude(rudeness: rudeness) --> stub).load(request)
            #expect(task.statusNow == row.status && task.codeNow == row.code, "\(rudeness)")
            #expect(stub.requests.count == row.count, "\(rudeness)")
        }
    }

    @Test func `an intercepting closure may call the rest twice, never, or after its cancellation`() async throws {
        struct Failure: Error {}
        let stub = StubLoader(.response(500), .response(200))
        let twice = Intercept { request, next in
            let first = try await next(request)
            return first.status.isSuccess ? first : try await next(request)
        }
        #expect(try await (twice --> stub).load(request).get().status == .ok)
        let never = Intercept { request, _ in HTTPResponse(request: request, status: 204) }
        #expect(try await (never --> stub).load(request).get().status == .noContent)
        let failing = Intercept { _, _ in throw Failure() }
        let error = await #expect(throws: HTTPError.self) { try await (failing --> stub).load(request).get() }
        #expect(error?.code == .unknown && error?.underlying is Failure)
        let (begun, ended) = (Deferred<Void>(), Deferred<HTTPError.Code?>())
        let stubborn = Intercept { request, next in
            begun.fill()
            while !_Concurrency.Task.isCancelled { await _Concurrency.Task.yield() }
            do {
                return try await next(request)
            } catch {
                ended.fill(with: (error as? HTTPError)?.code)
                return HTTPResponse(request: request, status: 203)
            }
        }
        let task = (stubborn --> stub).load(request)
        await begun.value
        task.cancel()
        #expect(await ended.value == .cancelled)
        #expect(try await task.value.status == 203)
        #expect(stub.requests.count == 2)
    }
}

/// Erases the type of a loader, so that chains of the same form have one type.
private struct AnyLoader: HTTPLoader {
    let loader: any HTTPLoader

    init(_ loader: any HTTPLoader) { self.loader = loader }

    func load(_ task: HTTPTask) { loader.load(task) }

    func reset() -> Future<Void> { loader.reset() }
}

/// Answers on another thread, unless the task is cancelled.
private struct Later: HTTPLoader {
    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        DispatchQueue.global().async { task.succeed(200) }
    }

    /// Answers at once.
    struct Now: HTTPLoader {
        func load(_ task: HTTPTask) { task.succeed(200) }
    }
}
