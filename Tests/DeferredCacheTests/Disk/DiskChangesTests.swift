import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Changes of a resource that another process makes. Two caches with one folder are as two processes.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskChangesTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory
    private let fresh: HTTPHeaders = ["Cache-Control": "max-age=100"]

    init() throws { folder = try TemporaryDirectory() }

    private func cache() -> Cache { clock.cache(.disk(at: folder.url.appending(path: "cache"))) }

    @Test func `a change can be told on a disk that has become full`() throws {
        let cache = cache()
        _ = (cache --> StubLoader(.response(headers: fresh))).load(.cacheable()).statusLater
        _ = cache.flush().wait()
        // No mark has been changed yet, and all have their space.
        var status = stat()
        #expect(lstat(folder.url.appending(path: "cache/lock").path, &status) == 0)
        #expect(status.st_size == 4_096 && Int(status.st_blocks) * 512 >= 4_096)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: "cache").path)
        #expect(names.allSatisfy { !$0.hasPrefix("t-") })
    }

    @Test(arguments: ["PUT", "remove", "removeAll"], [true, false])
    func `a response that was sent for before another process changed it is not stored after that`(
        change: String,
        isStreamed: Bool
    ) async throws {
        let (one, other) = (cache(), cache())
        let stub = StubLoader()
        let task = (one --> stub).load(isStreamed ? .cacheable().streamed() : .cacheable())
        try await eventually { stub.tasksInFlight.count == 1 }
        switch change {
        case "PUT": _ = (other --> StubLoader(.response(.noContent))).load(.cacheable(.put)).statusLater
        case "remove": other.remove(try #require(URL(string: "https://example.com/")))
        default: await other.removeAll().value
        }
        let sent = stub.tasksInFlight[0]
        let stream: HTTPBodyStream? = isStreamed ? .pieces("old") : nil
        if let stream {
            sent.complete(
                with: .success(HTTPResponse(request: sent.request, status: .ok, headers: fresh, stream: stream))
            )
        } else {
            sent.succeed(.ok, headers: fresh, body: Data("old".utf8))
        }
        let response = try await task.get()
        #expect(try await response.stream?.collect() ?? response.body == Data("old".utf8))
        for cache in [one, other] {
            await cache.flush().value
            #expect((cache --> stub).load(.cacheable().with(.anyAge)).statusLater == 504)
        }
        // Neither process is kept from storing what comes later.
        let new = StubLoader(.response(headers: fresh, body: "new"))
        for cache in [one, other] {
            #expect((cache --> new).load(.cacheable()).textLater == "new")
            await cache.flush().value
        }
        #expect(new.requests.count == 1)
    }

    /// A cache whose process stops for a while when it stores its second response: it has read the head, and is about to
    /// write it.
    ///
    /// - Parameter losesLock: Whether somebody removes the file with the lock after the first.
    private func cache(
        after first: HTTPRequest,
        from stub: StubLoader,
        losesLock: Bool = false,
        stop: @escaping @Sendable () -> Void
    ) -> Cache {
        let path = folder.url.appending(path: "cache").path
        let calls = Lock<[CacheFolder.Call]?>(nil)
        let cache = clock.cache(
            Cache.Storage { now in
                DiskStore(path, capacity: 1 << 20, now: now) { call in
                    let created = calls.withLock { calls in
                        calls?.append(call)
                        return calls?.count { $0 == .create }
                    }
                    // The body's file is the first, and the lock's may be the second.
                    if call == .create, created == (losesLock ? 3 : 2) { stop() }
                    return true
                }
            }
        )
        #expect((cache --> stub).load(first).statusLater == 200)
        _ = cache.flush().wait()
        calls.withLock { $0 = [] }
        if losesLock { #expect(unlink("\(path)/lock") == 0) }
        return cache
    }

    @Test(arguments: ["another variant", "an update", "a removal", "the removal of all"], [false, true])
    func `what two processes do to a resource at the same time is all done`(change: String, losesLock: Bool) {
        let languages = StubLoader { request in
            let language = request.headers["Accept-Language"] ?? "-"
            return request.headers["If-None-Match"] == nil
                ? .response(
                    headers: ["Cache-Control": "max-age=100", "Vary": "Accept-Language", "ETag": "\"\(language)\""],
                    body: language
                )
                : .response(.notModified, headers: ["Cache-Control": "max-age=900"])
        }
        func request(_ language: String) -> HTTPRequest {
            .cacheable(.get, "/", ["Accept-Language": language])
        }
        let (stopped, changed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let one = cache(after: request("fi"), from: languages, losesLock: losesLock) {
            stopped.signal()
            // Nothing is changed meanwhile, which only time can tell.
            _ = changed.wait(timeout: .now() + .milliseconds(20))
        }
        let other = cache()
        let storing = (one --> languages).load(request("sv"))
        #expect(stopped.wait(timeout: .now() + .seconds(10)) == .success)
        let end: Future<Void>
        switch change {
        case "a removal": end = other.remove { $0.headers["ETag"] == "\"fi\"" }
        case "the removal of all": end = other.removeAll()
        default:
            let request = change == "an update" ? request("fi").with(.validate) : request("en")
            #expect((other --> languages).load(request).statusLater == 200)
            end = other.flush()
        }
        end.upon(.immediate) { changed.signal() }
        #expect(storing.textLater == "sv")
        for end in [end, one.flush(), other.flush()] { end.wait() }
        let stub = StubLoader()
        // A head that came back would list it, even without its body.
        let isListed = one.entries { $0.headers["ETag"] == "\"fi\"" }.wait()?.isEmpty == false
        #expect(isListed == !change.contains("removal"))
        let isKept = change != "the removal of all"
        #expect((other --> stub).load(request("sv").with(.onlyCached)).statusLater == (isKept ? 200 : 504))
        if change == "another variant" {
            #expect((one --> stub).load(request("en").with(.onlyCached)).textLater == "en")
        }
        if change.contains("removal") {
            #expect((one --> stub).load(request("fi").with(.onlyCached)).statusLater == 504)
        }
        clock.advance(by: 200)
        let isFresh = (one --> stub).load(request("fi").with(.onlyCached)).statusLater == 200
        #expect(isFresh == (change == "an update"))
    }

    @Test func `a process that was stopped while it stored keeps no other one from storing`() async throws {
        let isOver = DispatchSemaphore(value: 0)
        let stub = StubLoader { .response(headers: ["Cache-Control": "max-age=100"], body: $0.path) }
        let (one, other) = (cache(after: .cacheable(.get, "/1"), from: stub) { isOver.wait() }, cache())
        #expect((one --> stub).load(.cacheable(.get, "/2")).textLater == "/2")
        #expect((other --> stub).load(.cacheable(.get, "/3")).textLater == "/3")
        await other.flush().value
        #expect((other --> StubLoader()).load(.cacheable(.get, "/3").with(.onlyCached)).textLater == "/3")
        isOver.signal()
        await one.flush().value
    }

    @Test func `what was stored before a response that can't be stored does not come back`() async throws {
        let (one, other) = (cache(), cache())
        #expect((one --> StubLoader(.response(headers: fresh))).load(.cacheable(.get, "/other")).statusLater == 200)
        await one.flush().value
        try FileManager.default.removeItem(at: folder.url.appending(path: "cache"))
        // The folder that it makes again has other marks.
        await other.removeAll().value
        #expect((other --> StubLoader(.response(headers: fresh, body: "1"))).load(.cacheable()).textLater == "1")
        await other.flush().value
        clock.advance(by: 1)
        let new = StubLoader(.response(headers: fresh, body: "2"), .response(headers: fresh, body: "3"))
        #expect((one --> new).load(.cacheable().with(.reload)).textLater == "2")
        await one.flush().value
        #expect((one --> new).load(.cacheable()).textLater == "3")
    }

    @Test func `a change of one resource keeps hardly any others out`() async throws {
        let (one, other) = (cache(), cache())
        let stub = StubLoader()
        let chain = one --> stub
        let tasks = (0..<64).map { chain.load(.cacheable(.get, "/\($0)")) }
        try await eventually { stub.tasksInFlight.count == 64 }
        _ = (other --> StubLoader(.response(.noContent))).load(.cacheable(.put)).statusLater
        for task in stub.tasksInFlight { task.succeed(.ok, headers: fresh) }
        for task in tasks { _ = try await task.get() }
        await one.flush().value
        #expect(one.statistics.stored > 56)
    }

    @Test func `a change in the same process keeps no others out, and those of other processes still do`() async throws
    {
        let (one, other) = (cache(), cache())
        let stub = StubLoader()
        let chain = one --> stub
        let tasks = (0..<64).map { chain.load(.cacheable(.get, "/\($0)")) }
        try await eventually { stub.tasksInFlight.count == 64 }
        let changes = one --> StubLoader(.response(.noContent))
        for number in 0..<2_000 { _ = changes.load(.cacheable(.put, "/other/\(number)")).statusLater }
        // In between, and covered by changes of its own process.
        _ = (other --> StubLoader(.response(.noContent))).load(.cacheable(.put, "/0")).statusLater
        for number in 0..<2_000 { _ = changes.load(.cacheable(.put, "/more/\(number)")).statusLater }
        for task in stub.tasksInFlight { task.succeed(.ok, headers: fresh) }
        for task in tasks { _ = try await task.get() }
        await one.flush().value
        #expect((56...63).contains(one.statistics.stored))
        #expect(try await (one --> StubLoader(.response(body: "new"))).load(.cacheable(.get, "/0")).get().text == "new")
    }

    @Test func `a POST's response that stands for a GET is stored although it changes the resource`() {
        let cache = cache()
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Content-Location": "/"]
        let chain = cache --> StubLoader(.response(headers: headers, body: "one"), .response(body: "two"))
        #expect(chain.load(.cacheable(.post)).textLater == "one" && chain.load(.cacheable()).textLater == "one")
    }
}
