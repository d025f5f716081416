import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Has a line for each row of the tables "Name by name" in the articles on migrating, which uses what the row says.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigrationTablesTests {
    private struct Failure: Error {}

    private let one = Task.success(1)
    private let two = Task.success(2)
    private let bad = Task<Int>.failure(Failure())
    private let later = Future(value: 1)

    /// The rows of an article, by their first cell, and code that uses the second one.
    private struct Rows {
        private var seen: [String] = []

        /// A row whose code gives true.
        mutating func add(_ name: String, _ use: () throws -> Bool) rethrows {
            #expect(try use(), "\(name)")
            seen.append(name)
        }

        /// Rows that say that there is nothing to write.
        mutating func nothing(_ names: String...) { seen += names }

        func check(_ article: String) throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
            let file = root.appending(path: "Documentation/Deferred.docc/Articles/\(article).md")
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            let table = lines.drop { $0 != "### Name by name" }.drop { !$0.hasPrefix("| ---") }.dropFirst()
            let names = table.prefix { $0.hasPrefix("| ") }.map { $0.dropFirst(2).components(separatedBy: " | ")[0] }
            #expect(Set(names).subtracting(seen).isEmpty, "rows without a line here")
            #expect(Set(seen).subtracting(names).isEmpty, "lines for rows that aren't there")
        }
    }

    private func value<Success>(_ task: Task<Success>) -> Success? { try? task.peek()?.get() }

    private func ended<Success>(_ task: Task<Success>) -> Success? { try? task.wait()?.get() }

    private func hasFailed<Success>(_ task: Task<Success>) -> Bool {
        if case .failure? = task.peek() { true } else { false }
    }

    @Test func `the names of PromiseKit`() async throws {
        var rows = Rows()
        let promise = Task<Int>.Promise()
        rows.add("`Promise<T>`") { type(of: one) == Task<Int>.self }
        rows.add("`Guarantee<T>`") { type(of: later) == Future<Int>.self }
        rows.add("`Promise { seal in … }`, `Promise.pending()`") { !Task(promise).isFilled }
        rows.add("`seal.fulfill(_:)`, `seal.reject(_:)`") {
            promise.succeed(with: 1) && !promise.fail(with: Failure())
        }
        rows.add("`seal.resolve(_:)`") { Task<Int>.Promise().fill(with: .success(1)) }
        rows.add("`seal.resolve(_:_:)`") {
            let error: (any Error)? = Failure()
            if let error { return Task<Int>.Promise().fail(with: error) } else { return false }
        }
        rows.add("`Guarantee { seal in … }`, `Guarantee.pending()`") { !Deferred<Int>().future.isFilled }
        rows.add("`Promise.value(_:)`, `Promise(error:)`") { one.isFilled && bad.isFilled }
        rows.add("`Promise(guarantee)`") { value(Task(succeedsFrom: later)) == 1 }
        rows.add("`firstly { … }`") { value(Task.catching { one }.flatMap { $0 }) == 1 }
        rows.add("`.then { … }`") { value(one.flatMap { _ in two }) == 2 }
        rows.add("`.map { … }`") { hasFailed(one.map { _ -> Int in throw Failure() }) }
        rows.add("`.compactMap { … }`") { hasFailed(one.map { _ -> Int in throw Failure() }) }
        rows.add("`.done { … }` at the end") { !one.uponSuccess(on: .mainActor) { _ in }.isCancelled }
        rows.add("`.done { … }` in the middle") { !one.map(on: .mainActor) { _ in }.isCancelled }
        rows.add("`.get { … }`") { value(one.map { $0 }) == 1 }
        rows.add("`.tap { result in … }`") { !one.always(on: .mainActor) { _ in }.isCancelled }
        rows.add("`.catch { … }`") { !bad.uponFailure(on: .mainActor) { _ in }.isCancelled }
        rows.add("`.catch(policy: .allErrors) { … }`") { !bad.uponFailure(on: .mainActor) { _ in }.isCancelled }
        rows.nothing("`.cauterize()`")
        rows.add("`.ensure { … }`") { !one.always(on: .mainActor) { _ in }.isCancelled }
        rows.add("`.ensureThen { … }`") { ended(one.always { [later] _ in _ = await later.value }) == 1 }
        rows.add("`.finally { … }`") { !one.upon(.mainActor) { _ in }.isCancelled }
        rows.add("`.recover { … }` returning a promise") { value(bad.fallback { _ in two }) == 2 }
        rows.add("`.recover { … }` returning a value") { value(bad.recover { _ in 2 }) == 2 }
        rows.add("`.asVoid()`") { one.ignored().isFilled }
        rows.add("`.pipe(to:)`") {
            let other = Task<Int>.Promise()
            one.upon(.immediate) { other.fill(with: $0) }
            return other.isFilled
        }
        let list = Task.success([3, 1, 2])
        rows.add("`.mapValues { … }`, `.compactMapValues { … }`, `.flatMapValues { … }`") {
            value(list.map { $0.map { $0 + 1 } }) == [4, 2, 3]
        }
        rows.add("`.filterValues { … }`, `.sortedValues()`, `.firstValue`, `.lastValue`") {
            value(list.map { $0.sorted().first }) == 1
        }
        rows.add("`.thenMap { … }`") {
            value(list.flatMap { $0.map { Task.success($0 + 1) }.allSucceeded() }) == [4, 2, 3]
        }
        rows.add("`.thenFlatMap { … }`") {
            value(list.flatMap { $0.map { Task.success([$0]) }.allSucceeded() }.map { $0.flatMap { $0 } }) == [3, 1, 2]
        }
        rows.add("`when(fulfilled: a, b)` of different types") { zip(one, Task.success("a")).isFilled }
        rows.add("`when(fulfilled: promises)`") { value([one, two].allSucceeded()) == [1, 2] }
        rows.add("`when(fulfilled:concurrently:)`") {
            value([1, 2].mapTasks(maxConcurrent: 1) { .success($0) }) == [1, 2]
        }
        rows.add("`when(resolved:concurrently:)`") {
            let results = [one, bad].mapTasks(maxConcurrent: 1) { task -> Task<Result<Int, any Error>> in
                task.map { .success($0) }.recover { .failure($0) }
            }
            return value(results)?.map { try? $0.get() } == [1, nil]
        }
        rows.add("`when(resolved: promises)`") { [one, bad].allFilled().peek()?.count == 2 }
        rows.add("`when(guarantees: futures)`") { [later, later].allFilled().peek() == [1, 1] }
        rows.add("`race(promises)`") { hasFailed([bad, one].firstCompleted()) }
        rows.add("`race(guarantees)`") { [later, .never].firstFilled().peek() == 1 }
        rows.add("`race(fulfilled: promises)`") { value([bad, one].firstSucceeded()) == 1 }
        rows.add("`after(seconds:)`") { Future(value: ()).delay(for: .zero).wait() != nil }
        rows.add("`DispatchQueue.global().async(.promise) { … }`") {
            ended(Task.async(on: .global()) { 1 }) == 1
        }
        rows.add("`URLSession.shared.dataTask(.promise, with:)`") {
            let request = URLSession.shared.beginDataTask(with: URL(filePath: "/nowhere"))
            request.cancel()
            return request.wait() != nil
        }
        rows.add("`promise.result`, `promise.value`, `promise.error`") { one.peek() != nil }
        rows.add("`promise.isPending`, `promise.isResolved`") { !Task<Int>.never.isFilled && one.isFilled }
        rows.add("`promise.isFulfilled`, `promise.isRejected`") {
            (try? one.peek()?.get()) != nil && (try? bad.peek()?.get()) == nil
        }
        rows.add("`on: DispatchQueue`, `on: nil`") { one.map(on: .immediate) { $0 }.isFilled }
        rows.nothing("`conf.Q`, `conf.catchPolicy`, `conf.logHandler`")
        rows.add("`CancellablePromise`, `cancellize()` of version 7") {
            let task = Task<Int>.Promise()
            let cancellable = Task(task, uponCancel: { $0.fail(with: CancellationError()) })
            cancellable.cancel()
            return hasFailed(cancellable)
        }
        rows.add("`CancellableError`") {
            struct Stopped: CancellationIndicating {}
            return Stopped().isCancellation
        }
        rows.add("`PMKError.cancelled`, `error.isCancelled`") { CancellationError().isCancellation }
        rows.add("`PMKError.returnedSelf`") { "\(CircularTask())" != "" }
        rows.add("`PMKError.noWinner`") {
            if case .failure(let error)? = [bad].firstSucceeded().peek() { error is AllTasksFailed } else { false }
        }
        rows.add("`hang(_:)`, `wait()`") { one.wait() != nil }
        let awaited = try await one.value
        rows.add("`try await promise.async()`") { awaited == 1 }
        try rows.check("MigratingFromPromiseKit")
    }

    @Test func `the names of SwiftNIO`() async throws {
        var rows = Rows()
        let queue = DispatchQueue(label: "queue")
        rows.add("`eventLoop.makePromise(of:)`") { !Task<Int>.Promise().isFilled }
        rows.add("`promise.futureResult`") { hasFailed(Task(Task<Int>.Promise())) }
        rows.add("`promise.succeed(_:)`, `promise.fail(_:)`, `promise.succeed()`") {
            Task<Int>.Promise().succeed(with: 1) && Task<Int>.Promise().fail(with: Failure())
                && Task<Void>.Promise().succeed()
        }
        rows.add("`promise.completeWith(result)`") { Task<Int>.Promise().fill(with: .success(1)) }
        rows.add("`promise.completeWith(future)`, `future.cascade(to: promise)`") {
            let promise = Task<Int>.Promise()
            one.upon(.immediate) { promise.fill(with: $0) }
            return promise.isFilled
        }
        rows.add("`cascadeSuccess(to:)`, `cascadeFailure(to:)`") {
            let promise = Task<Int>.Promise()
            bad.uponFailure(on: .immediate) { promise.fail(with: $0) }
            return promise.isFilled
        }
        rows.add("`promise.completeWithTask { … }`, `eventLoop.makeFutureWithTask { … }`") {
            ended(Task { 1 }) == 1
        }
        rows.add("`eventLoop.makeSucceededFuture(_:)`, `makeFailedFuture(_:)`") { one.isFilled && bad.isFilled }
        rows.add("`eventLoop.makeCompletedFuture { … }`") { value(Task.catching { 1 }) == 1 }
        rows.add("`eventLoop.submit { … }`") { ended(Task.async(on: queue) { 1 }) == 1 }
        rows.add("`eventLoop.flatSubmit { … }`") {
            ended(Task.success(()).flatMap(on: queue) { two }) == 2
        }
        rows.add("`eventLoop.scheduleTask(in:) { … }`") {
            ended(Task.success(()).delay(for: .zero).map { 1 }) == 1
        }
        rows.add("`eventLoop.flatScheduleTask(in:) { … }`") {
            ended(Task.success(()).delay(for: .zero).flatMap { two }) == 2
        }
        // Run in `MigrationTests`.
        rows.nothing("`eventLoop.scheduleRepeatedTask(initialDelay:delay:_:)`")
        rows.add("`flatMap { … }`") { value(one.flatMap { _ in two }) == 2 }
        rows.add("`flatMapWithEventLoop { value, loop in … }`") { value(one.flatMap { _ in two }) == 2 }
        rows.add("`map { … }`, `flatMapThrowing { … }`") { hasFailed(one.map { _ -> Int in throw Failure() }) }
        rows.add("`flatMapResult { … }`") { value(one.map { try Result<Int, any Error>.success($0).get() }) == 1 }
        rows.add("`flatMapError { … }`") { value(bad.fallback { _ in two }) == 2 }
        rows.add("`flatMapErrorThrowing { … }`, `recover { … }`") {
            hasFailed(bad.recover { _ -> Int in throw Failure() })
        }
        rows.add("`flatMapBlocking(onto: queue) { … }`") { one.map(on: queue) { $0 }.wait() != nil }
        rows.add("`always { result in … }`") { value(one.always { _ in }) == 1 }
        rows.add("`whenComplete`, `whenSuccess`, `whenFailure`") {
            let (all, good, failed) = (Deferred<Void>(), Deferred<Void>(), Deferred<Void>())
            one.upon(.immediate) { _ in all.fill() }
            one.uponSuccess(on: .immediate) { _ in good.fill() }
            bad.uponFailure(on: .immediate) { _ in failed.fill() }
            return all.isFilled && good.isFilled && failed.isFilled
        }
        rows.add("`whenCompleteBlocking(onto: queue)` and its kin") {
            let done = Deferred<Void>()
            one.upon(queue) { _ in done.fill() }
            return done.wait() != nil
        }
        rows.add("`a.and(b)`") { zip(one, two).isFilled }
        rows.add("`a.and(value:)`") { value(one.map { ($0, "a") })?.1 == "a" }
        rows.add("`whenAllSucceed(_:on:)`") { value([one, two].allSucceeded()) == [1, 2] }
        rows.add("`andAllSucceed(_:on:)`") { [one, two].allSucceeded().ignored().isFilled }
        rows.add("`whenAllComplete(_:on:)`") { [one, bad].allFilled().isFilled }
        rows.add("`andAllComplete(_:on:)`") { [one, bad].allFilled().ignored().isFilled }
        // Shown below the table, where it is run.
        rows.nothing("`fold(_:with:)`")
        rows.add("`EventLoopFuture.reduce(_:_:on:_:)`") {
            value([one, two].allSucceeded().map { $0.reduce(0, +) }) == 3
        }
        rows.add("`unwrap(orReplace:)`") { value(Task<Int?>.success(nil).map { $0 ?? 2 }) == 2 }
        rows.add("`unwrap(orError:)`") {
            hasFailed(
                Task<Int?>.success(nil).map { value -> Int in
                    guard let value else { throw Failure() }
                    return value
                }
            )
        }
        rows.nothing("`hop(to:)`", "`assumeIsolated()`, `makeIsolatedPromise`")
        rows.add("`assertSuccess()`, `assertFailure()`") {
            value(one.always { result in assert((try? result.get()) != nil) }) == 1
        }
        let awaited = try await one.value
        rows.add("`get()`") { awaited == 1 }
        rows.add("`wait()`") { ended(one) == 1 }
        try rows.check("MigratingFromEventLoopFuture")
    }

    @Test func `the names of Combine`() async throws {
        var rows = Rows()
        rows.add("`Future { promise in … }`") { hasFailed(Task(Task<Int>.Promise())) }
        rows.add("`Just(_:)`") { later.isFilled && one.isFilled }
        rows.add("`Fail(error:)`") { hasFailed(bad) }
        rows.add("`Deferred { … }`") {
            func task() -> Task<Int> { one }
            return task().isFilled
        }
        rows.add("`Empty()`") { !Task<Int>.never.isFilled }
        rows.add("`AnyPublisher<T, any Error>`") { type(of: one) == Task<Int>.self }
        rows.add("`AnyPublisher<T, Never>`") { type(of: later) == Future<Int>.self }
        rows.nothing("`eraseToAnyPublisher()`")
        rows.add("`sink(receiveValue:)`") { !one.uponSuccess(on: .immediate) { _ in }.isCancelled }
        rows.add("`sink(receiveCompletion:receiveValue:)`") { !one.upon(.immediate) { _ in }.isCancelled }
        rows.add("`assign(to:on:)`") { !one.uponSuccess(on: .mainActor) { _ in }.isCancelled }
        rows.add("`AnyCancellable`") {
            let pending = Deferred<Int>()
            let registration: Registration = pending.upon(.immediate) { _ in }
            registration.cancel()
            return registration.isCancelled
        }
        rows.add("`map`, `tryMap`") { hasFailed(one.map { _ -> Int in throw Failure() }) }
        rows.add("`flatMap`") { value(one.flatMap { _ in two }) == 2 }
        rows.add("`compactMap`, `filter`") { hasFailed(one.map { _ -> Int in throw Failure() }) }
        rows.add("`decode(type:decoder:)`") {
            value(Task.success(Data("[1]".utf8)).map { try JSONDecoder().decode([Int].self, from: $0) }) == [1]
        }
        rows.add("`catch`, `tryCatch`") { value(bad.fallback { _ in two }) == 2 }
        rows.add("`replaceError(with:)`") { value(bad.recover { _ in 2 }) == 2 }
        rows.add("`mapError`") { hasFailed(bad.mapError { $0 }) }
        rows.add("`handleEvents(receiveCompletion:)`") { one.always { _ in }.isFilled }
        rows.add("`handleEvents(receiveCancel:)`") {
            let seen = Deferred<Void>()
            let promise = Task<Int>.Promise()
            let task = Task(promise, uponCancel: { $0.fail(with: CancellationError()) })
            task.uponCancel { seen.fill() }
            task.cancel()
            return seen.isFilled
        }
        rows.add("`zip`, `Publishers.Zip`, and `combineLatest` of publishers of one value") { zip(one, two).isFilled }
        rows.add("`Publishers.MergeMany(…).collect()`") { value([one, two].allSucceeded()) == [1, 2] }
        rows.add("`flatMap(maxPublishers: .max(4))` over a sequence") {
            value([1, 2].mapTasks(maxConcurrent: 4) { .success($0) }) == [1, 2]
        }
        rows.add("`first()` of a merge") {
            hasFailed([bad, one].firstCompleted()) && value([bad, one].firstSucceeded()) == 1
        }
        rows.nothing("`combineLatest` of streams, `scan`, `removeDuplicates`, `throttle`")
        rows.add("`receive(on:)`, `subscribe(on:)`") { one.map(on: .any()) { $0 }.wait() != nil }
        rows.add("`delay(for:scheduler:)`") { one.delay(for: .zero).wait() != nil }
        rows.add("`timeout(_:scheduler:customError:)`") { value(one.timeout(after: .seconds(60))) == 1 }
        rows.add("`retry(_:)`") {
            Task.retry(RetryPolicy(attempts: 2, base: .zero)) { $0 == 1 ? bad : two }.wait() != nil
        }
        rows.add("`share()`") { value(one.shared()) == 1 }
        rows.add("`debounce(for:scheduler:)` with `switchToLatest()`") {
            let (latest, done) = (LatestTask<Int>(), Deferred<Void>())
            latest.start(after: .zero, on: .immediate) {
                two
            } deliver: { _ in
                done.fill()
            }
            return done.wait() != nil
        }
        rows.add("`switchToLatest()`") {
            let (latest, done) = (LatestTask<Int>(), Deferred<Void>())
            latest.start(two, on: .immediate) { _ in done.fill() }
            return done.isFilled
        }
        rows.add("`PassthroughSubject`, `CurrentValueSubject`") { Deferred<Int>().fill(with: 1) }
        let awaited = try await one.value
        rows.add("`publisher.values`") { awaited == 1 }
        // Of Apple's platforms: see `UsingAsyncAwait`.
        rows.nothing(
            "a publisher, for code that stays with Combine",
            "the first value of a publisher, as a task"
        )
        rows.add("`URLSession.dataTaskPublisher(for:)`") {
            let request = URLSession.shared.beginDataTask(with: URL(filePath: "/nowhere"))
            request.cancel()
            return request.wait() != nil
        }
        try rows.check("MigratingFromCombine")
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in request.method == "HEAD" ? .response(200) : .json("[1]") }
    }

    private func file(_ name: String) -> URL {
        FileManager.default.temporaryDirectory.appending(path: "\(UUID())-\(name)")
    }

    @Test func `the names of Alamofire`() async throws {
        var rows = Rows()
        let server = try Self.server()
        defer { server.stop() }
        let (url, destination, source) = (server.url("/"), file("down"), file("up"))
        try Data("[1]".utf8).write(to: source)
        defer { for file in [destination, source] { try? FileManager.default.removeItem(at: file) } }
        let client = URLClient()
        var request = HTTPRequest(url: url)
        var configuration = URLClient.Configuration()

        rows.add("`Session`, `AF`") {
            ended((Validate() --> URLSessionLoader(client: client)).load(request).task) != nil
        }
        rows.add("`URLSessionConfiguration.headers`") {
            (configuration.headers, configuration.userAgent) = (["A": "b"], "me")
            return configuration.headers["A"] == "b"
        }
        rows.add("`AF.request(url)`") { ended(client.begin(url)) != nil }
        rows.add("`.responseData { … }`, `.serializingData()`") { ended(client.begin(url))?.0 == Data("[1]".utf8) }
        rows.add("`.responseDecodable(of:)`, `.serializingDecodable(_:)`") {
            ended(client.decode([Int].self, from: URLRequest(url: url))) == [1]
        }
        rows.add("`.responseString`, `.serializingString()`") {
            ended(client.begin(url).map { data, _ in String(decoding: data, as: UTF8.self) }) == "[1]"
        }
        rows.add("`AF.download(url, to:)`") {
            ended(client.download(URLRequest(url: url), to: destination))?.0 == destination
        }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        rows.add("`AF.upload(data, to:)`, `AF.upload(file, to:)`") {
            ended(client.upload(post, from: .data(Data("a".utf8)))) != nil
                && ended(client.upload(post, from: .file(source))) != nil
        }
        rows.add("`AF.upload(multipartFormData:to:)`") {
            request.body = .multipart([.init(name: "a", text: "b")])
            return !request.body.isEmpty
        }
        rows.add("`AF.streamRequest(url)`") { ended(client.stream(url)) != nil }
        rows.add("`parameters:`, `encoder: URLEncodedFormParameterEncoder`") {
            request.query = [URLQueryItem(name: "a", value: "b")]
            request.body = .form(["a": "b"])
            return request.query.count == 1
        }
        try rows.add("`encoder: JSONParameterEncoder`") {
            request.body = try .json([1])
            return !request.body.isEmpty
        }
        rows.add("`.validate()`, `.validate(statusCode:)`") {
            configuration.validation = .any
            request.acceptsStatus = { $0.isSuccess }
            return request.acceptsStatus?(404) == false
        }
        rows.add("`.authenticate(username:password:)`") {
            configuration.authentication = .basic(user: "a", password: "b")
            return true
        }
        rows.add("`.downloadProgress { … }`, `.uploadProgress { … }`") {
            !client.begin(url).uponProgress(on: .main) { _ in }.isCancelled
        }
        rows.add("`.cancel()`") {
            let task = client.begin(url)
            task.cancel()
            return task.wait() != nil
        }
        rows.nothing("`.suspend()`, `.resume()`")
        rows.add("`.cURLDescription`") { HTTPRequest(url: url).curlCommand.hasPrefix("curl ") }
        rows.add("`.redirect(using: .follow)`, `.redirect(using: .doNotFollow)`") {
            configuration.redirects = .follow(atMost: 5)
            configuration.redirects = .none
            return true
        }
        let loaded = StubLoader.answering(.json("[1]"))
        rows.add("`RequestAdapter`") {
            ended((ModifyRequest { $0.headers["A"] = "b" } --> loaded()).load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`RequestRetrier`, `RetryPolicy`") {
            configuration.retries.attempts = 2
            return ended((Retry() --> loaded()).load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`RequestInterceptor`") {
            let chain = Intercept { request, next in try await next(request) } --> loaded()
            return ended(chain.load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`AuthenticationInterceptor`") {
            let chain = BearerAuthentication(hosts: ["127.0.0.1"]) { _ in .success("token") } --> loaded()
            return ended(chain.load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`EventMonitor`") {
            configuration.monitor = { _ in }
            return ended((Log { _ in } --> loaded()).load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`ServerTrustManager`, pinning") {
            configuration.tls = .init()
            return true
        }
        rows.nothing("`NetworkReachabilityManager`, `OfflineRetrier`")
        rows.add("`CachedResponseHandler`, `URLCache`") {
            ended((Cache(.memory()) --> loaded()).load(HTTPRequest(url: url)).task) != nil
        }
        rows.add("`AFError`") { HTTPError(.cancelled, request: request).code == .cancelled }
        rows.add("`AFError.explicitlyCancelled`") { URLError(.cancelled).isCancellation }
        rows.add("`DataResponse` with metrics") {
            configuration.monitor = { _ = $0.metrics }
            return true
        }
        await client.shutdown().value
        try rows.check("MigratingFromAlamofire")
    }

    @Test func `the names of async-http-client`() async throws {
        var rows = Rows()
        let server = try Self.server()
        defer { server.stop() }
        let (url, destination) = (server.url("/"), file("down"))
        defer { try? FileManager.default.removeItem(at: destination) }
        let client = URLClient()
        var configuration = URLClient.Configuration()
        func sets(_ change: (inout URLClient.Configuration) -> Void) -> Bool {
            change(&configuration)
            return true
        }

        rows.add("`HTTPClient(eventLoopGroupProvider:configuration:)`") {
            URLClient(configuration: configuration).shutdown().wait() != nil
        }
        rows.nothing("`HTTPClient.shared`")
        rows.add("`shutdown()`") {
            URLClient().invalidateAndCancel()
            return URLClient().shutdown().wait() != nil
        }
        rows.add("`HTTPClientRequest(url:)`") {
            URLRequest(url: url).url == url && HTTPRequest(url: url).path == "/"
        }
        rows.add("`execute(_:timeout:)`, body collected") { ended(client.begin(url)) != nil }
        rows.add("`execute(_:timeout:)`, body read as it comes") { ended(client.stream(url)) != nil }
        rows.add("`HTTPClient.get(url:)`, `post(url:body:)` and the others") { ended(client.begin(url)) != nil }
        var post = URLRequest(url: url)
        post.httpMethod = "POST"
        rows.add("`request.body = .bytes(_:)`") { ended(client.upload(post, from: .data(Data("a".utf8)))) != nil }
        rows.add("`request.body = .stream(_:length:)`") {
            var request = HTTPRequest(.post, url: url)
            request.body = .stream(AsyncStream<Data> { $0.finish() }, length: 0)
            return !request.body.isEmpty
        }
        rows.add("`FileDownloadDelegate`") {
            ended(client.download(URLRequest(url: url), to: destination))?.0 == destination
        }
        rows.add("`HTTPClientResponseDelegate`") {
            !client.begin(url).uponProgress(on: .main) { _ in }.isCancelled
        }
        rows.add("`HTTPClient.Task.cancel()`") {
            let task = client.begin(url)
            task.cancel()
            return task.wait() != nil
        }
        rows.add("`setBasicAuth(username:password:)`") {
            sets { $0.authentication = .basic(user: "a", password: "b") }
        }
        rows.add("`timeout.connect`, `timeout.read`") {
            sets { ($0.deadlines.connectToHead, $0.deadlines.idle) = (.seconds(5), .seconds(5)) }
        }
        rows.add("`redirectConfiguration = .follow(max:allowCycles:)`, `.disallow`") {
            sets { $0.redirects = .follow(atMost: 5) } && sets { $0.redirects = .none }
        }
        rows.nothing("`localAddress`; the choice of an event loop")
        rows.add("`connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit`") {
            sets { $0.maximumConnectionsPerHost = 8 }
        }
        rows.add("`connectionPool.idleTimeout`") { sets { $0.connectionIdleTimeout = .seconds(30) } }
        rows.add("`dnsOverride`") { sets { $0.resolve = ["api.example.com:443": ["127.0.0.1"]] } }
        rows.add("`tlsConfiguration`") { sets { $0.tls = .init() } }
        rows.add("`proxy`") { sets { $0.proxy = .none } }
        rows.add("`socketPath:`") { sets { $0.unixSocketPath = "/run/server" } }
        rows.add("`httpVersion = .http1Only`") { sets { $0.httpVersion = .http1_1 } }
        rows.nothing("`decompression`")
        rows.add("`tracing`, `logger:`") { sets { $0.monitor = { _ in } } }
        rows.add("`HTTPClientError`") { URLClientError.shutDown.localizedDescription != "" }
        rows.add("`HTTPClientError.cancelled`") { URLError(.cancelled).isCancellation }
        await client.shutdown().value
        try rows.check("MigratingFromAsyncHTTPClient")
    }
}

extension StubLoader {
    /// Makes loaders that each answer one request.
    fileprivate static func answering(_ answer: Answer) -> () -> StubLoader { { StubLoader(answer) } }
}
