import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Cache of a client", .serialized, .ownThreadInSeries, .timeLimit(.minutes(2)))
struct CacheURLClientTests {
    private let events = TestSupport.Log<String>()
    private let cache = Cache(.memory())

    private func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        var configuration = URLClient.Configuration()
        if !isLibcurlTested { configuration.engine = .urlSession }
        configuration.retries = .none
        configuration.cache = cache
        configuration.monitor = { [events] event in
            switch event.kind {
            case .cached(_, let isConfirmed): events.add(isConfirmed ? "confirmed" : "cached")
            case .retried: events.add("retried")
            default: break
            }
        }
        change(&configuration)
        return URLClient(configuration: configuration)
    }

    private func text(_ task: Task<(Data, ResponseHead)>) async throws -> String {
        try await String(decoding: task.get().0, as: UTF8.self)
    }

    private func fresh(_ body: LoopbackServer.Payload) -> LoopbackServer.Script {
        .response(headers: ["Cache-Control": "max-age=9999"], body: body)
    }

    @Test func `every way to take a response is answered from the cache`() async throws {
        let server = try LoopbackServer { _ in fresh("[1,2]") }
        defer { server.stop() }
        let client = client()
        let url = server.url("/")
        #expect(try await text(client.begin(url)) == "[1,2]")
        try await eventually { cache.statistics.stored == 1 }
        let (body, response) = try await client.begin(url).get()
        #expect(String(decoding: body, as: UTF8.self) == "[1,2]" && response.status == 200)
        #expect(response.value(of: "Age").flatMap { Int($0) } != nil && response.url == url)
        #expect(try await client.decode([Int].self, from: url).get() == [1, 2])
        var streamed = Data()
        for try await bytes in try await client.stream(url).get().body { streamed += bytes }
        #expect(streamed == Data("[1,2]".utf8))
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "file")
        _ = try await client.download(url, to: file).get()
        #expect(try Data(contentsOf: file) == Data("[1,2]".utf8))
        var head = URLRequest(url: url)
        head.httpMethod = "HEAD"
        #expect(try await client.begin(head).get().0.isEmpty)
        #expect(server.requests.count == 1 && cache.statistics.hits == 5)
        #expect(events.entries == Array(repeating: "cached", count: 5))
    }

    @Test func `a stale response is confirmed by the server`() async throws {
        let server = try LoopbackServer { request in
            request.headers["If-None-Match"] == nil
                ? .response(headers: ["ETag": "\"a\""], body: "one") : .response(304, headers: ["ETag": "\"a\""])
        }
        defer { server.stop() }
        let client = client()
        #expect(try await text(client.begin(server.url("/"))) == "one")
        try await eventually { cache.statistics.stored == 1 }
        #expect(try await text(client.begin(server.url("/"))) == "one")
        #expect(events.entries == ["confirmed"] && server.requests.count == 2)
    }

    @Test func `users do not mix, whichever way they sign in`() async throws {
        let server = try LoopbackServer { request in fresh(.text(request.headers["Authorization"] ?? "nobody")) }
        defer { server.stop() }
        let url = server.url("/")
        for _ in 0..<2 {
            for user in ["a", "b"] {
                let client = client { $0.authentication = .bearer(user) }
                #expect(try await text(client.begin(url)) == "Bearer \(user)")
            }
        }
        #expect(try await text(client().begin(url)) == "nobody")
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
        parts.password = "secret"
        for user in ["a", "b"] {
            parts.user = user
            let text = try await text(client().begin(try #require(parts.url)))
            let credential = Data("\(user):secret".utf8).base64EncodedString()
            #expect(text == "Basic \(credential)" || text == "nobody")
        }
    }

    @Test func `users who are told apart by a cookie alone need partitions`() async throws {
        let server = try LoopbackServer { request in fresh(.text(request.headers["Cookie"] ?? "nobody")) }
        defer { server.stop() }
        let url = server.url("/")
        func text(_ user: String, in partition: String?) async throws -> String {
            let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
            let client = client { $0.cookies = storage }
            storage.setCookies(
                HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "user=\(user)"], for: url),
                for: url,
                mainDocumentURL: nil
            )
            return try await self.text(client.begin(url, options: URLClient.RequestOptions(cachePartition: partition)))
        }
        #expect(try await text("a", in: nil) == "user=a")
        try await eventually { cache.statistics.stored == 1 }
        // The client adds the cookie below the cache, and the server has named nothing by which users differ.
        #expect(try await text("b", in: nil) == "user=a")
        for _ in 0..<2 {
            for user in ["b", "c"] { #expect(try await text(user, in: user) == "user=\(user)") }
            try await eventually { cache.statistics.stored == 3 }
        }
        #expect(server.requests.count == 3)
    }

    @Test func `what a client with a credential gets without it is its own, unless it is public`() async throws {
        for isPublic in [false, true] {
            let server = try LoopbackServer { request in
                let directives = isPublic ? "public, max-age=9999" : "max-age=9999"
                return .response(headers: ["Cache-Control": directives], body: .text("\(request.number)"))
            }
            defer { server.stop() }
            let url = server.url("/")
            let clients = [
                client(), client { $0.authentication = .basic(user: "a", password: "p") },
                client { $0.authentication = .basic(user: "b", password: "p") },
            ]
            let before = cache.statistics.stored
            for _ in 0..<2 {
                for (number, client) in clients.enumerated() {
                    #expect(try await text(client.begin(url)) == (isPublic ? "1" : "\(number + 1)"))
                    try await eventually { cache.statistics.stored >= before + (isPublic ? 1 : number + 1) }
                }
            }
            #expect(server.requests.count == (isPublic ? 1 : 3))
        }
    }

    @Test func `a challenge and a retry are below the client, and above the cache`() async throws {
        let server = try LoopbackServer { request in
            guard request.headers["Authorization"] != nil else {
                return .response(401, headers: ["Cache-Control": "max-age=9999"])
            }
            return request.number == 2 ? .response(503) : fresh("mine")
        }
        defer { server.stop() }
        let client = client {
            $0.authentication = .basic(user: "me", password: "secret")
            $0.retries = .init()
            $0.retries.clock = ImmediateClock()
        }
        #expect(try await text(client.begin(server.url("/"))) == "mine")
        #expect(server.requests.count == 3 && events.entries == ["retried"])
        try await eventually { cache.statistics.stored == 2 }
        // The challenge comes from the cache, too.
        #expect(try await text(client.begin(server.url("/"))) == "mine")
        #expect(server.requests.count == 3)
    }

    @Test func `a redirect and its target are stored under their own URLs`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old"
                ? .response(
                    301,
                    headers: ["Location": "/new", "Cache-Control": "max-age=9999"],
                    body: "moved, with a body"
                ) : fresh("new")
        }
        defer { server.stop() }
        let client = client()
        for _ in 0..<2 {
            let (body, response) = try await client.begin(server.url("/old")).get()
            #expect(String(decoding: body, as: UTF8.self) == "new" && response.url == server.url("/new"))
            try await eventually { cache.statistics.stored == 2 }
        }
        #expect(server.requests.map(\.path) == ["/old", "/new"])
    }

    @Test func `an upload arrives as it is, and removes what is stored`() async throws {
        let server = try LoopbackServer { $0.method == "GET" ? fresh("old") : .response(body: .bytes($0.body)) }
        defer { server.stop() }
        let client = client()
        #expect(try await text(client.begin(server.url("/"))) == "old")
        let bytes = LoopbackServer.Payload.patternBytes(0..<300_000)
        let upload = client.upload(server.url("/"), from: .data(bytes))
        #expect(try await upload.get().0 == bytes)
        #expect(upload.progress.completedUnitCount == upload.progress.totalUnitCount)
        #expect(try await text(client.begin(server.url("/"))) == "old" && server.requests.count == 3)
    }

    @Test func `equal requests are sent once, and go on without the one that was sent`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { [events] request in
            events.add("request")
            gate.wait()
            return fresh("shared")
        }
        defer { server.stop() }
        let client = client()
        let first = client.begin(server.url("/"))
        try await eventually { events.entries == ["request"] }
        let others = (0..<20).map { _ in client.begin(server.url("/")) }
        first.cancel()
        gate.signal()
        gate.signal()
        for other in others { #expect(try await text(other) == "shared") }
        guard case .failure(let error as URLError) = await first.result, error.code == .cancelled else {
            Issue.record("not cancelled")
            return
        }
        #expect(events.entries.count { $0 == "request" } <= 2)
    }

    @Test func `offline, a stored response of any age counts, and none is an error at once`() async throws {
        let server = try LoopbackServer { _ in .response(headers: ["ETag": "\"a\""], body: "7") }
        let client = client { $0.retries = .init() }
        var request = URLRequest(url: server.url("/"))
        #expect(try await text(client.begin(request)) == "7")
        try await eventually { cache.statistics.stored == 1 }
        server.stop()
        request.cachePolicy = .returnCacheDataDontLoad
        #expect(try await text(client.begin(request)) == "7")
        #expect(try await client.decode(Int.self, from: request).get() == 7)
        request.url = server.url("/other")
        guard case .failure(let error as URLError) = await client.begin(request).result else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .resourceUnavailable && error.failingURL == request.url)
        #expect(events.entries == ["cached", "cached"])
    }

    @Test func `the policies of a request are honoured`() async throws {
        let server = try LoopbackServer { fresh(.text("\($0.number)")) }
        defer { server.stop() }
        let client = client()
        var request = URLRequest(url: server.url("/"))
        func load() async throws -> String {
            defer { events.add("end") }
            return try await text(client.begin(request))
        }
        #expect(try await load() == "1")
        try await eventually { cache.statistics.stored == 1 }
        #expect(try await load() == "1")
        request.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try await load() == "2")
        try await eventually { cache.statistics.stored == 2 }
        request.cachePolicy = .returnCacheDataElseLoad
        #expect(try await load() == "2")
    }

    @Test func `a large body is read at the reader's pace, stored, and read again`() async throws {
        let count = 3 << 20
        let server = try LoopbackServer { _ in fresh(.pattern(count: count)) }
        defer { server.stop() }
        let client = client { $0.streamBufferSize = 1 << 16 }
        for _ in 0..<2 {
            var read = Data()
            for try await bytes in try await client.stream(server.url("/")).get().body { read += bytes }
            #expect(read == LoopbackServer.Payload.patternBytes(0..<count))
            try await eventually { cache.statistics.stored == 1 }
        }
        #expect(server.requests.count == 1)
    }

    @Test func `a reader that stops ends the transfer, and nothing is stored`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: ["Cache-Control": "max-age=9999"], body: "beginning", contentLength: 100) + [.stall]
        }
        defer { server.stop() }
        let client = client()
        let response = try await client.stream(server.url("/")).get()
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("beginning".utf8))
        response.body.cancel()
        try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
        #expect(cache.statistics.stored == 0)
    }

    @Test func `a server that is silent for too long is one that can't answer, for which a stale response stands in`()
        async throws
    {
        let server = try LoopbackServer { request in
            request.number == 1
                ? .response(headers: ["Cache-Control": "max-age=0, stale-if-error=9999"], body: "stale") : [.stall]
        }
        defer { server.stop() }
        let client = client { $0.deadlines.idle = .milliseconds(100) }
        for _ in 0..<3 { #expect(try await text(client.begin(server.url("/"))) == "stale") }
    }

    private func loader(_ change: (inout URLClient.Configuration) -> Void) -> URLSessionLoader {
        var configuration = URLClient.Configuration()
        if !isLibcurlTested { configuration.engine = .urlSession }
        configuration.retries = .none
        change(&configuration)
        return URLSessionLoader(configuration: configuration)
    }

    /// The fields that the client of a terminal loader adds, which no loader before it sees.
    @Test(arguments: ["Authorization", "session's Authorization", "Accept-Language", "User-Agent"])
    func `fields that a terminal loader's client adds don't mix users`(name: String) async throws {
        let field = name.components(separatedBy: " ").last ?? name
        let server = try LoopbackServer { request in
            .response(
                headers: ["Cache-Control": "max-age=9999", "Vary": field == "Authorization" ? "Accept" : field],
                body: .text("for \(request.headers[field] ?? "nobody")")
            )
        }
        defer { server.stop() }
        func chain(_ value: String) -> HTTPChain {
            cache
                --> loader { configuration in
                    switch name {
                    case "User-Agent": configuration.userAgent = value
                    case field: configuration.headers = [field: value]
                    default: configuration.session.httpAdditionalHeaders = [field: value]
                    }
                }
        }
        let request = HTTPRequest(url: server.url("/mail"))
        let alice = try await chain("alice").load(request).get()
        #expect(alice.text == "for alice" && alice.request.headers[field] == "alice")
        #expect(try await chain("bob").load(request).get().text == "for bob")
        if field == "Authorization" { #expect(try await text(client().begin(server.url("/mail"))) == "for nobody") }
        // At the same time, neither waits for the other's.
        var streamed = HTTPRequest(url: server.url("/photo"))
        streamed.delivery = .stream
        let loading = ["carol", "dave"].map { user in (user: user, task: chain(user).load(streamed)) }
        for (user, task) in loading {
            #expect(try await task.get().stream?.collect() == Data("for \(user)".utf8))
        }
    }

    @Test func `a request with another Host than its URL's has nothing to do with the cache`() async throws {
        let server = try LoopbackServer { request in
            .response(
                headers: ["Cache-Control": "max-age=9999", "ETag": "\"1\""],
                body: .text("page of \(request.headers["Host"] ?? "")")
            )
        }
        defer { server.stop() }
        let client = client()
        let own = "127.0.0.1:\(server.port)"
        for host in ["a.example", "b.example", own, "A.example", own] {
            var request = URLRequest(url: server.url("/"))
            request.setValue(host, forHTTPHeaderField: "Host")
            #expect(try await text(client.begin(request)) == "page of \(host)")
            if host == own { try await eventually { cache.statistics.stored == 1 } }
        }
        #expect(server.requestCount == 4 && events.entries == ["cached"])
    }

    @Test func `a client that shares the body of a chain can try again when that is cut off`() async throws {
        let server = try LoopbackServer { request in
            request.number > 1
                ? fresh("hello12345")
                : .response(headers: ["Cache-Control": "max-age=9999"], body: "hello", contentLength: 10)
                    + [.pause(.milliseconds(500)), .close]
        }
        defer { server.stop() }
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .stream
        let response = try await (cache --> loader { _ in }).load(request).get()
        let joined = client { $0.retries = .init() }.begin(server.url("/"))
        await #expect(throws: HTTPError.self) { try await response.stream?.collect() }
        #expect(try await text(joined) == "hello12345")
    }

    @Test func `a body that a client and a chain share fails for each with its own kind of error`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: ["Cache-Control": "max-age=9999"], body: "hello", contentLength: 10) + [.stall]
        }
        defer { server.stop() }
        let response = try await client().stream(server.url("/")).get()
        var request = HTTPRequest(url: server.url("/"))
        request.delivery = .stream
        let joined = try await (cache --> loader { _ in }).load(request).get()
        #expect(server.requestCount == 1)
        server.stop()
        await #expect(throws: URLClientError.self) { try await response.body.collect() }
        await #expect(throws: HTTPError.self) { try await joined.stream?.collect() }
    }

    @Test func `a request's own idle limit holds also below the cache`() async throws {
        let server = try LoopbackServer { _ in [.pause(.milliseconds(600))] + fresh("late") }
        defer { server.stop() }
        let client = client { $0.deadlines.idle = .milliseconds(200) }
        let options = URLClient.RequestOptions(idle: .seconds(30))
        #expect(try await text(client.begin(server.url("/"), options: options)) == "late")
    }

    @Test(.enabled(if: isLibcurlTested), arguments: [false, true])
    func `a stream ends with its response, and the request with its body, or when all is cancelled`(isCancelled: Bool)
        async throws
    {
        let server = try LoopbackServer(
            beforeBody: { _ in .response(body: "done") + [.receive(1_000)] },
            respond: { _ in .response(body: "next") }
        )
        defer { server.stop() }
        let client = client()
        let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
        sender.yield(Data("a".utf8))
        var request = URLRequest(url: server.url("/"))
        request.httpMethod = "PUT"
        let response = try await client.stream(request, from: .stream(bytes)).get()
        #expect(try await response.body.collect() == Data("done".utf8))
        #expect(client.transport.requestCount == 1)
        if isCancelled { await client.invalidateAndCancel().value } else { sender.finish() }
        try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
    }

    @Test func `a body that others read is not cut short by the end of the client that fetches it`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: ["Cache-Control": "max-age=9999"], body: "one, ", contentLength: 8)
                + [.pause(.milliseconds(500)), .send("two")]
        }
        defer { server.stop() }
        var first: URLClient? = client()
        let second = client()
        let held = try await first?.stream(server.url("/")).get()
        let joined = try await second.stream(server.url("/")).get()
        held?.body.cancel()
        first = nil
        #expect(try await joined.body.collect() == Data("one, two".utf8))
        #expect(server.requests.count == 1)
    }

    @Test func `a body that is cut short is an error, and is not stored`() async throws {
        let server = try LoopbackServer { _ in
            .response(headers: ["Cache-Control": "max-age=9999"], body: "beginning", contentLength: 100) + [.close]
        }
        defer { server.stop() }
        guard case .failure(let error as URLClientError) = await client().begin(server.url("/")).result,
            case .truncatedBody(9, 100) = error.code
        else {
            Issue.record("not an error")
            return
        }
        #expect(cache.statistics.stored == 0)
    }

    @Test func `a download that was broken off is completed, and stored when it comes whole`() async throws {
        let folder = try TemporaryDirectory()
        let file = folder.url.appending(path: "file")
        let server = try LoopbackServer { request in
            let script = LoopbackServer.Script.resumable(.pattern(count: 100_000), for: request)
            return request.number == 1 ? script.truncated(after: 50_000) : script
        }
        defer { server.stop() }
        let client = client()
        _ = await client.download(server.url("/"), to: file).result
        _ = try await client.download(server.url("/"), to: file).get()
        #expect(try Data(contentsOf: file) == LoopbackServer.Payload.patternBytes(0..<100_000))
        #expect(server.requests.count == 2 && server.requests[1].headers["Range"] != nil)
    }

    @Test func `the server is asked in the background, and a client that is released closes all the same`() async throws
    {
        let server = try LoopbackServer { request in
            .response(
                headers: ["Cache-Control": "max-age=0, stale-while-revalidate=9999"],
                body: .text("\(request.number)")
            )
        }
        defer { server.stop() }
        var held: URLClient? = client()
        #expect(try await text(try #require(held).begin(server.url("/"))) == "1")
        try await eventually { cache.statistics.stored == 1 }
        #expect(try await text(try #require(held).begin(server.url("/"))) == "1")
        try await eventually { cache.statistics.stored == 2 }
        #expect(cache.statistics.stale == 1 && server.requests.count == 2)
        let invalidated = try #require(held).transport.invalidated
        weak let transport = held?.transport
        held = nil
        try await eventually { invalidated.isFilled && transport == nil }
    }

    @Test func `what is renewed in the background is the whole, and not the client's part`() async throws {
        let directives = "max-age=0, stale-while-revalidate=9999"
        let server = try LoopbackServer { _ in
            .response(headers: ["Cache-Control": directives, "ETag": "\"a\""], body: "one")
        }
        defer { server.stop() }
        let client = client()
        #expect(try await text(client.begin(server.url("/"))) == "one")
        try await eventually { cache.statistics.stored == 1 }
        var request = URLRequest(url: server.url("/"))
        request.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        request.setValue("\"a\"", forHTTPHeaderField: "If-Range")
        #expect(try await text(client.begin(request)) == "on")
        try await eventually { server.requests.count == 2 }
        let headers = server.requests[1].headers
        #expect(headers["Range"] == nil && headers["If-Range"] == nil && headers["If-None-Match"] == "\"a\"")
    }

    @Test func `equal requests have their fields in the same order`() throws {
        let names = (0..<20).map { "X-Field-\($0)" }
        let url = try #require(URL(string: "http://example.com/"))
        let requests = try [names, Array(names.reversed())].map { names in
            var request = URLRequest(url: url)
            for name in names { request.setValue("1", forHTTPHeaderField: name) }
            return try HTTPRequest(CheckedRequest(request))
        }
        #expect(requests[0].headers.fields.map(\.name) == requests[1].headers.fields.map(\.name))
    }

    @Test func `a failure is not that of another client, nor of a request with another time-out`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try LoopbackServer { [events] request in
            if request.number > 1 { return fresh("two") }
            events.add("request")
            gate.wait()
            return [.close]
        }
        defer { server.stop() }
        let (one, other) = (client(), client())
        let first = one.begin(server.url("/"))
        try await eventually { events.entries == ["request"] }
        let second = other.begin(server.url("/"))
        var request = URLRequest(url: server.url("/"))
        request.timeoutInterval = 30
        let third = one.begin(request)
        try await eventually { other.transport.requestCount == 1 && one.transport.requestCount == 2 }
        gate.signal()
        guard case .failure = await first.result else {
            Issue.record("not lost")
            return
        }
        #expect(try await text(second) == "two")
        #expect(try await text(third) == "two")
    }

    @Test func `a chain's requests have their partition in the client's cache, too`() async throws {
        let server = try LoopbackServer { request in fresh(.text("\(request.number)")) }
        defer { server.stop() }
        let client = client()
        let loader = URLSessionLoader(client: client)
        for (user, expected, stored) in [("alice", "1", 1), ("bob", "2", 2), ("alice", "1", 2), (nil, "3", 3)] {
            var request = HTTPRequest(url: server.url("/"))
            request.cachePartition = user
            #expect(try await loader.load(request).get().text == expected)
            try await eventually { cache.statistics.stored == stored }
        }
    }

    @Test func `a chain over a client that has the same cache waits for nobody`() async throws {
        let server = try LoopbackServer { request in
            .response(
                headers: ["Cache-Control": "max-age=0, stale-while-revalidate=9999"],
                body: .text("\(request.number)")
            )
        }
        defer { server.stop() }
        let chain = cache --> URLSessionLoader(client: client())
        let request = HTTPRequest(url: server.url("/"))
        #expect(try await chain.load(request).task.timeout(after: .seconds(20)).get().text == "1")
        try await eventually { cache.statistics.stored >= 1 }
        // In the background, too.
        #expect(try await chain.load(request).get().text == "1")
        try await eventually { server.requestCount == 2 }
        await cache.reset().value
    }

    @Test func `a download that is too large to be stored is newer than what is stored`() async throws {
        let server = try LoopbackServer { request in
            fresh(request.number == 1 ? .text("old") : .pattern(count: 100_000))
        }
        defer { server.stop() }
        let folder = try TemporaryDirectory()
        let chain = Cache(.memory(capacity: 64 << 10)) --> URLSessionLoader(client: client { $0.cache = nil })
        var request = HTTPRequest(url: server.url("/"))
        #expect(try await chain.load(request).get().text == "old")
        request.cachePolicy = .reload
        request.delivery = .file(folder.file)
        _ = try await chain.load(request).get()
        let response = try await chain.load(HTTPRequest(url: server.url("/"))).get()
        #expect(response.body.count == 100_000 && server.requests.count == 3)
    }
}
