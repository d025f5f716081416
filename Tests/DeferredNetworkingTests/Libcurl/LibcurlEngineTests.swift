#if os(Linux)
import CLibcurl
import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

/// Tests of features that only libcurl has, and of responses that would crash a process over URLSession.
@Suite("Libcurl", .serialized, .ownThreadInSeries, .timeLimit(.minutes(3)))
struct LibcurlEngineTests {
    private static func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        URLClient.fresh {
            $0.engine = .libcurl
            change(&$0)
        }
    }

    /// What a server sends that nobody has asked for.
    private static let forged = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"

    /// One member of gzip.
    private static let mebibyteOfZeros: Data = {
        let head: [UInt8] = [
            0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xED, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F,
            0xA0,
        ]
        let tail: [UInt8] = [0x3E, 3, 0x1C, 0xEA, 0x38, 0xA7, 0, 0, 0x10, 0]
        return Data(head) + Data(count: 1_016) + Data(tail)
    }()

    // MARK: Heads

    @Test func `a redirect that leads nowhere is a response with a body`() async throws {
        let server = try LoopbackServer { request in
            .response(302, headers: ["Location": request.path == "/mail" ? "mailto:a@b.c" : ""], body: "body")
        }
        defer { server.stop() }
        let client = Self.client { $0.validation = .any }
        for path in ["/", "/mail"] {
            let (body, response) = try await client.begin(server.url(path)).get()
            #expect(response.status == 302 && body == Data("body".utf8))
        }
        await client.shutdown().value
    }

    @Test func `a head that libcurl can't read is told by what the server has sent`() async throws {
        let long = "A: " + String(repeating: "a", count: 120_000)
        let rows = [("/long", long, "100 KiB"), ("/folded", " A: a", "folded")]
        let server = try LoopbackServer { request in
            let line = rows.first { $0.0 == request.path }?.1 ?? ""
            return .raw(.text("HTTP/1.1 200 OK\r\n\(line)\r\nContent-Length: 0\r\n\r\n"))
        }
        defer { server.stop() }
        let client = Self.client()
        for (path, _, part) in rows {
            let error = await client.begin(server.url(path)).failure() as? URLError
            #expect(error?.code == .badServerResponse)
            #expect(error?.localizedDescription.contains(part) == true, "\(String(describing: error))")
        }
        await client.shutdown().value
    }

    @Test(arguments: [421, 425])
    func `a server that wants another connection is not asked again`(status: Int) async throws {
        let server = try LoopbackServer { _ in .response(status, body: "body") }
        defer { server.stop() }
        let client = Self.client { $0.retries = .init() }
        let ending = await client.begin(server.url("/")).ending()
        #expect(ending == .client(URLClientError(.unacceptableStatus(code: status, body: Data("body".utf8)))))
        #expect(server.requestCount == 1)
        await client.shutdown().value
    }

    // MARK: Lost connections

    @Test(arguments: ["POST", "PATCH"])
    func `a request without body that may not be sent twice isn't, on a lost connection`(method: String) async throws {
        let server = try LoopbackServer { $0.path == "/lost" ? [.close] : .response(body: "1") }
        defer { server.stop() }
        let client = Self.client { $0.maximumConnectionsPerHost = 1 }
        // libcurl sends a PUT once more, over a new connection.
        for (method, count) in [(method, 1), ("PUT", 2)] {
            let before = server.requestCount
            _ = try await client.begin(server.url("/")).get()
            let lost = URLRequest(server.url("/lost")) { $0.httpMethod = method }
            let failure = await client.begin(lost).failure() as? URLError
            #expect(failure?.code == (count == 1 ? .requestBodyStreamExhausted : .networkConnectionLost))
            #expect(server.requestCount == before + 1 + count)
        }
    }

    @Test(arguments: [forged, "x"])
    func `what comes on an idle connection is no response to the next request`(surplus: String) async throws {
        let server = try LoopbackServer { request in
            if request.path != "/surplus" { return .response(body: "good") }
            return .response(body: "first") + [.pause(.milliseconds(5)), .send(.text(surplus))]
        }
        defer { server.stop() }
        for round in 1...5 {
            let client = Self.client { $0.maximumConnectionsPerHost = 1 }
            for _ in 0..<2 { _ = try await client.begin(server.url("/")).get() }
            #expect(server.connectionCount == 2 * round - 1, "connections are reused")
            #expect(try await client.begin(server.url("/surplus")).get().0 == Data("first".utf8))
            // The connection is closed as soon as the bytes are there.
            try await eventually { server.openConnectionCount == 0 }
            #expect(try await client.begin(server.url("/")).get().0 == Data("good".utf8))
            await client.shutdown().value
            try await eventually { server.openConnectionCount == 0 }
            #expect(server.connectionCount == 2 * round)
        }
    }

    @Test func `nor is what comes while the engine's thread runs a handler`() async throws {
        let server = try LoopbackServer { request in
            if request.path != "/surplus" { return .response(body: "good") }
            // The first pause lets the handler be there before the response.
            return [.pause(.milliseconds(20))] + .response(body: "first") + [
                .pause(.milliseconds(5)), .send(.text(Self.forged)), .close,
            ]
        }
        defer { server.stop() }
        let client = Self.client { $0.maximumThreads = 1 }
        for _ in 1...5 {
            let next = Task<Data>.Promise()
            client.begin(server.url("/surplus")).upon(.immediate) { _ in
                // What blocks the engine's thread can't be told by it; at most 10 s.
                for _ in 0..<10_000 where server.openConnectionCount > 0 { usleep(1_000) }
                client.begin(server.url("/")).upon(.immediate) { next.fill(with: $0.map(\.0)) }
            }
            #expect(try await next.future.value.get() == Data("good".utf8))
        }
        await client.shutdown().value
    }

    @Test(arguments: [true, false])
    func `a body whose coding is folded is refused`(closes: Bool) async throws {
        let server = try LoopbackServer { _ in
            let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
            return .raw(.text(bytes)) + (closes ? [.close] : [])
        }
        defer { server.stop() }
        let client = Self.client { $0.retries = .none }
        let failure = await client.begin(server.url("/")).failure() as? URLError
        #expect(failure?.code == .badServerResponse)
        await client.shutdown().value
    }

    /// Serves a stream of which libcurl has all when the reader wants no more, with a forged response behind it.
    private static func serverOfHeldStreams() throws -> LoopbackServer {
        let encoded = mebibyteOfZeros + mebibyteOfZeros
        return try LoopbackServer { request in
            if request.path != "/held" { return .response(body: "good") }
            return .response(headers: ["Content-Encoding": "gzip"], body: .bytes(encoded)) + [
                .pause(.milliseconds(5)), .send(.text(forged)),
            ]
        }
    }

    /// Returns a stream that nobody reads, when the forged response has mostly come: without it, nothing is tested.
    private static func heldStream(of client: URLClient, at server: LoopbackServer) async throws -> StreamingResponse {
        let response = try await client.stream(server.url("/held")).get()
        try await eventually { response.body.waitingCount > 0 }
        try await _Concurrency.Task.sleep(for: .milliseconds(20))
        return response
    }

    private static func count(of response: StreamingResponse) async throws -> Int {
        var count = 0
        for try await bytes in response.body { count += bytes.count }
        return count
    }

    /// Blocks the thread of an engine while `body` runs, and for 20 ms more, so that what comes meanwhile is handled at once.
    private func withBlockedThread(
        of client: URLClient,
        at server: LoopbackServer,
        _ body: () async throws -> Void
    ) async throws {
        let (isBlocked, isFree) = (Deferred<Void>(), Deferred<Void>())
        let busy = client.begin(server.url("/busy"))
        busy.upon(.immediate) { _ in
            isBlocked.fill()
            // What blocks the engine's thread can't be told by it; at most 10 s.
            for _ in 0..<10_000 where !isFree.isFilled { usleep(1_000) }
        }
        await isBlocked.future.value
        try await body()
        try await _Concurrency.Task.sleep(for: .milliseconds(20))
        isFree.fill()
        _ = try await busy.get()
    }

    @Test func `nor is what comes on one that a request gets when another one goes on`() async throws {
        let server = try Self.serverOfHeldStreams()
        defer { server.stop() }
        let client = Self.client {
            $0.maximumThreads = 1
            $0.streamBufferLimit = 16 << 10
        }
        for _ in 1...5 {
            let response = try await Self.heldStream(of: client, at: server)
            var (next, reading): (Task<Data>?, Task<Int>?)
            try await withBlockedThread(of: client, at: server) {
                reading = Task { try await Self.count(of: response) }
                try await _Concurrency.Task.sleep(for: .milliseconds(5))
                next = client.begin(server.url("/")).map(\.0)
            }
            #expect(try await next?.get() == Data("good".utf8))
            #expect(try await reading?.get() == 2 << 20)
        }
        await client.shutdown().value
    }

    @Test(arguments: ["GET", "POST"])
    func `nor is what comes on one on which a lost request is repeated`(method: String) async throws {
        let server = try LoopbackServer { request in
            switch request.path {
            case "/slow": [.pause(.milliseconds(20))] + .response(body: "slow")
            case "/last":
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfi"), .pause(.milliseconds(30)),
                    .send(.text("ne" + Self.forged)),
                ]
            case "/lost": [.pause(.milliseconds(30)), .close]
            default: .response(body: "good")
            }
        }
        defer { server.stop() }
        for _ in 1...5 {
            let client = Self.client {
                $0.maximumThreads = 1
                $0.retries = .none
            }
            // Two connections to keep.
            let kept = [client.begin(server.url("/slow")), client.begin(server.url("/slow"))]
            for task in kept { _ = try await task.get() }
            let last = client.begin(server.url("/last")).map(\.0)
            let lost = client.begin(URLRequest(server.url("/lost")) { $0.httpMethod = method }).map(\.0)
            try await withBlockedThread(of: client, at: server) {
                try await _Concurrency.Task.sleep(for: .milliseconds(30))
            }
            #expect(try await last.get() == Data("fine".utf8))
            // The new connection is closed as well. Only a GET is repeated.
            let failure = await lost.failure() as? URLError
            #expect(failure?.code == (method == "GET" ? .networkConnectionLost : .requestBodyStreamExhausted))
            await client.shutdown().value
        }
    }

    @Test func `nor is what comes after a response that is held`() async throws {
        let server = try Self.serverOfHeldStreams()
        defer { server.stop() }
        let client = Self.client {
            $0.maximumConnectionsPerHost = 1
            $0.streamBufferLimit = 16 << 10
        }
        for round in 1...5 {
            // On a connection that is watched already, and on one that is not yet.
            if round > 1 { _ = try await client.begin(server.url("/")).get() }
            let response = try await Self.heldStream(of: client, at: server)
            #expect(try await Self.count(of: response) == 2 << 20)
            try await eventually { server.openConnectionCount == 0 }
            #expect(try await client.begin(server.url("/")).get().0 == Data("good".utf8))
        }
        await client.shutdown().value
    }

    @Test func `a connection that the server closes while it is idle is replaced`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/last" ? .response(body: "1") + [.pause(.milliseconds(5)), .close] : .response(body: "1")
        }
        defer { server.stop() }
        let client = Self.client { $0.maximumConnectionsPerHost = 2 }
        for count in 1...20 {
            _ = try await client.begin(server.url("/last")).get()
            try await eventually { server.openConnectionCount == 0 }
            let post = URLRequest(server.url("/")) { $0.httpMethod = "POST" }
            _ = try await client.begin(post).get()
            #expect(server.connectionCount == count + 1)
        }
    }

    @Test func `a stream that nobody reads keeps its connection, and a request after it uses that`() async throws {
        let size = 4 << 20
        let server = try LoopbackServer { _ in .response(body: .pattern(count: size)) }
        defer { server.stop() }
        let client = Self.client {
            $0.maximumConnectionsPerHost = 1
            $0.streamBufferLimit = 16 << 10
        }
        let mark = StreamStateMachine.mark(limit: 16 << 10)
        for _ in 0..<3 {
            let response = try await client.stream(server.url("/")).get()
            // The server has sent more than is taken, so that the connection is readable while libcurl doesn't watch it.
            try await eventually { response.body.waitingCount > mark }
            await giveWay(turns: 1_000) { true }
            var count = 0
            for try await bytes in response.body { count += bytes.count }
            #expect(count == size)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `a response that begins with a continued line continues none of the response before it`() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { request in
                request.path == "/odd"
                    ? .raw("HTTP/1.1 200 OK\r\n continued: line\r\nContent-Length: 1\r\n\r\n1")
                    : .response(headers: ["X-Last": String(repeating: "x", count: request.path.utf8.count)], body: "1")
            }
            let client = Self.client { $0.maximumConnectionsPerHost = 1 }
            for number in 0..<200 {
                let path = "/" + String(repeating: "y", count: number)
                #expect(try await client.begin(server.url(path)).get().0 == Data("1".utf8))
                _ = await client.begin(server.url("/odd")).ending()
            }
        }
    }

    @Test func `a handle sends each request's own fields, whatever the one before it had`() async throws {
        let server = try LoopbackServer { _ in .response(body: "") }
        defer { server.stop() }
        let client = Self.client { $0.maximumConnectionsPerHost = 1 }
        let plain = URLRequest(url: server.url("/"))
        let tagged = URLRequest(server.url("/")) { $0.setValue("1", forHTTPHeaderField: "X-Tag") }
        let coded = URLRequest(server.url("/")) { $0.setValue("gzip", forHTTPHeaderField: "Accept-Encoding") }
        let posted = URLRequest(server.url("/")) {
            $0.httpMethod = "POST"; $0.httpBody = Data("1".utf8)
        }
        for request in [plain, plain, tagged, plain, coded, plain, posted, plain] {
            _ = try await client.begin(request).get()
        }
        #expect(server.requests.map { $0.headers["X-Tag"] } == [nil, nil, "1", nil, nil, nil, nil, nil])
        let codings = server.requests.map { $0.headers["Accept-Encoding"] }
        #expect(
            codings[4] == "gzip" && codings.indices.allSatisfy { $0 == 4 || codings[$0] == ContentDecoder.accepted }
        )
    }

    @Test func `a part is asked for as it is, and a field of blanks is sent`() async throws {
        let server = try LoopbackServer { _ in .response(206, headers: ["Content-Range": "bytes 0-0/2"], body: "a") }
        defer { server.stop() }
        let request = URLRequest(server.url("/")) {
            $0.setValue("bytes=0-0", forHTTPHeaderField: "Range")
            $0.setValue("   ", forHTTPHeaderField: "X-Blank")
        }
        #expect(try await Self.client().begin(request).text() == "a")
        let headers = server.requests.first?.headers
        #expect(headers?["Accept-Encoding"] == "identity" && headers?["X-Blank"] == "")
    }

    // MARK: Limits

    @Test func `a host that never answers takes nothing from another one`() async throws {
        let silent = try LoopbackServer { _ in [.stall] }
        let fast = try LoopbackServer { _ in .response(body: "hello") }
        defer {
            silent.stop()
            fast.stop()
        }
        let client = Self.client()
        let hanging = (0..<200).map { _ in client.begin(silent.url("/")) }
        let others = (0..<500).map { _ in client.begin(fast.url("/")) }
        for task in others { #expect(try await task.text() == "hello") }
        #expect(hanging.allSatisfy { !$0.isFilled })
        try await eventually { silent.connectionCount == 16 }
        #expect(fast.connectionCount <= 16)
        // Each one that is cancelled makes room for another one.
        for task in hanging[..<100] { task.cancel() }
        try await eventually { silent.requestCount >= 32 && silent.openConnectionCount == 16 }
        client.cancelAll()
        for task in hanging { #expect(await task.ending() == .url(.cancelled)) }
        try await eventually { client.transport.transferCount == 0 && silent.openConnectionCount == 0 }
    }

    // MARK: Hostile servers

    private static let responses: [String] = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
    ]

    @Test(arguments: responses.indices)
    func `a response that is cut at any byte fails, unless the rest is complete`(index: Int) async throws {
        let response = Self.responses[index]
        let server = try LoopbackServer { request in
            let count = Int(request.path.dropFirst()) ?? 0
            return [.send(.text(String(response.prefix(count)))), .close]
        }
        defer { server.stop() }
        let client = Self.client {
            $0.redirects = .none
            $0.validation = .any
        }
        // Counted in characters: a line ending is one.
        let head = response.range(of: "\r\n\r\n", options: .backwards).map { response[..<$0.upperBound].count } ?? 0
        for count in 0..<response.count {
            let result = await client.begin(server.url("/\(count)")).result
            if index == 5, count >= head {
                #expect(
                    try String(decoding: result.get().0, as: UTF8.self) == response.dropFirst(head).prefix(count - head)
                )
            } else if (index == 2 || index == 3), count >= head {
                #expect(throws: Never.self) { try result.get() }
            } else {
                #expect(throws: (any Error).self, "\(count)") { try result.get() }
            }
        }
        try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
    }

    @Test(arguments: [
        "9223372036854775295", "9223372036854775296", "9223372036854775806", "9223372036854775807",
        "9223372036854775808", "18446744073709551616", "-1", "5, 6", "+5", "5 5",
    ])
    func `a length that no body has fails`(length: String) async throws {
        let server = try LoopbackServer { _ in
            [.send(.text("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello")), .close]
        }
        defer { server.stop() }
        let client = Self.client()
        let folder = try TemporaryDirectory()
        #expect(await client.begin(server.url("/")).failure() != nil)
        #expect(await client.download(server.url("/"), to: folder.file, resuming: false).failure() != nil)
        #expect(try folder.contents() == [])
    }

    @Test func `a location is a redirect only together with a status that says so`() async throws {
        let server = try LoopbackServer { _ in .response(201, headers: ["Location": "/made"], body: "made") }
        defer { server.stop() }
        let (body, response) = try await Self.client().begin(server.url("/")).get()
        #expect(body == Data("made".utf8) && response.value(of: "Location") == "/made")
        #expect(server.requestCount == 1)
    }

    @Test func `trailers are no part of a response`() async throws {
        let server = try LoopbackServer { _ in
            .chunked(["hello"], trailers: ["X-A": "b", "Content-Length": "1", "Location": "/elsewhere"])
        }
        defer { server.stop() }
        let (body, response) = try await Self.client().begin(server.url("/")).get()
        #expect(body == Data("hello".utf8))
        #expect(
            response.value(of: "X-A") == nil && response.value(of: "Location") == nil
        )
    }

    @Test func `sixty thousand header lines fail, and nobody else waits for them`() async throws {
        let lines = String(repeating: "a:b\r\n", count: 60_000)
        let server = try LoopbackServer {
            $0.path == "/" ? [.send(.text("HTTP/1.1 200 OK\r\n\(lines)\r\n")), .close] : .response(body: "hello")
        }
        defer { server.stop() }
        let client = Self.client()
        let flooded = client.begin(server.url("/"))
        #expect(try await client.begin(server.url("/other")).text() == "hello")
        #expect(await flooded.ending() == .url(.badServerResponse))
    }

    @Test func `a server that claims to speak HTTP/2 mixes up nothing`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/h2line"
                ? [.send("HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nhi")] : .response(body: .text(request.path))
        }
        defer { server.stop() }
        let client = Self.client { $0.maximumConnectionsPerHost = 25 }
        _ = await client.begin(server.url("/h2line")).result
        let tasks = (0..<1_000).map { client.begin(server.url("/\($0)")) }
        for (index, task) in tasks.enumerated() {
            #expect(try await task.text() == "/\(index)")
        }
    }

    @Test func `a compressed body that is cut before it is framed fails`() async throws {
        let whole = FuzzCoding.gzip(Data("1234567890".utf8))
        for count in 1..<whole.count {
            let server = try LoopbackServer { _ in
                .response(headers: ["Content-Encoding": "gzip"], body: .bytes(whole.prefix(count)))
            }
            defer { server.stop() }
            #expect(await Self.client().begin(server.url("/")).ending() == .url(.badServerResponse))
        }
    }

    @Test(arguments: ["HEAD", "204", "304"])
    func `a response without a body may have any coding`(kind: String) async throws {
        let status = Int(kind) ?? 200
        let server = try LoopbackServer { _ in
            [.send(.text("HTTP/1.1 \(status) X\r\nContent-Encoding: rot13\r\n\r\n")), .close]
        }
        defer { server.stop() }
        let client = Self.client { $0.validation = .any }
        let request = URLRequest(server.url("/")) { $0.httpMethod = kind == "HEAD" ? "HEAD" : "GET" }
        let (body, response) = try await client.begin(request).get()
        #expect(body.isEmpty && response.status.code == status)
    }

    @Test func `a body in an unknown coding that the request asked for comes as it is`() async throws {
        let server = try LoopbackServer { _ in .response(headers: ["Content-Encoding": "rot13"], body: "uryyb") }
        defer { server.stop() }
        let request = URLRequest(server.url("/")) { $0.setValue("rot13", forHTTPHeaderField: "Accept-Encoding") }
        let (body, response) = try await Self.client().begin(request).get()
        #expect(body == Data("uryyb".utf8) && response.value(of: "Content-Encoding") == "rot13")
        #expect(await Self.client().begin(server.url("/")).ending() == .url(.badServerResponse))
    }

    // MARK: Back pressure

    @Test(arguments: [100_000, 1 << 20])
    func `a reader that is slower than the server holds it up`(limit: Int) async throws {
        let size = 12 << 20
        let server = try LoopbackServer { _ in .response(body: .pattern(count: size)) }
        defer { server.stop() }
        let clock = ManualClock()
        let client = Self.client {
            $0.streamBufferLimit = limit
            $0.deadlines.idle = .milliseconds(200)
            $0.deadlineClock = clock
        }
        let response = try await client.stream(server.url("/")).get()
        // Longer than the idle deadline, which does not apply while the reader holds the server up.
        let mark = StreamStateMachine.mark(limit: limit)
        try await eventually { response.body.waitingCount > mark }
        clock.advance(by: .seconds(10))
        try await eventually { clock.nextDeadline == .init(offset: .milliseconds(10_200)) }
        var count = 0
        var most: Int64 = 0
        var isRight = true
        for try await bytes in response.body {
            if count < 1 << 20 { await giveWay(turns: 200) { true } }
            isRight = isRight && bytes == LoopbackServer.Payload.patternBytes(count..<count + bytes.count)
            count += bytes.count
            most = max(most, response.body.waitingCount)
        }
        #expect(count == size && isRight)
        #expect(most <= Int64(limit) + (1 << 20), "\(most)")
    }

    @Test func `a small body that becomes a large one is held up as well`() async throws {
        let body = (0..<64).reduce(into: Data()) { body, _ in body += Self.mebibyteOfZeros }
        let server = try LoopbackServer { _ in .response(headers: ["Content-Encoding": "gzip"], body: .bytes(body)) }
        defer { server.stop() }
        let client = Self.client { $0.streamBufferLimit = 100_000 }
        let response = try await client.stream(server.url("/")).get()
        var (count, most, longest) = (0, Int64(0), 0)
        for try await bytes in response.body {
            count += bytes.count
            longest = max(longest, bytes.count)
            await giveWay(turns: 20) { true }
            most = max(most, response.body.waitingCount)
        }
        #expect(count == 64 << 20 && longest <= 256 << 10, "\(count), \(longest)")
        #expect(most <= 100_000 + (1 << 20), "\(most)")
    }

    // MARK: Words

    @Test(arguments: ["Content-Length: 0", "Content-Length: 10", "Transfer-Encoding: chunked", "X: y"])
    func `a head that is cut anywhere is told as one`(field: String) async throws {
        let head = Array("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n".utf8)
        let client = Self.client()
        for count in 0..<head.count {
            let server = try LoopbackServer { _ in [.send(.bytes(Data(head.prefix(count)))), .close] }
            defer { server.stop() }
            let error = await client.begin(server.url("/")).failure() as? URLError
            let place = count < 17 ? "before the first line" : "inside the head"
            #expect(error?.code == .networkConnectionLost, "\(count)")
            #expect(error?.localizedDescription == "The connection ended \(place) of the response", "\(count)")
        }
    }

    @Test func `a connection for which no descriptor is left says so`() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            let other = try LoopbackServer { _ in .response(body: "hello") }
            let client = Self.client()
            #expect(try await client.begin(server.url("/")).text() == "hello")
            var before = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
            var none = before
            none.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            let failure = await client.begin(other.url("/")).failure() as? URLError
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
            let text = failure?.localizedDescription ?? ""
            #expect(failure?.code == .cannotConnectToHost)
            #expect(text.contains("No descriptor is left") && text.contains("ulimit -n"), "\(text)")
            #expect(try await client.begin(other.url("/")).text() == "hello")
        }
    }

    @Test func `a socket with a path that doesn't exist is named`() async throws {
        let url = try #require(URL(string: "http://host/"))
        let failure = await Self.client { $0.unixSocketPath = "/nowhere/to be found" }.begin(url).failure() as? URLError
        #expect(failure?.code == .cannotConnectToHost)
        let text = failure?.localizedDescription ?? ""
        #expect(text.contains("/nowhere/to be found") && text.contains("No such file"), "\(text)")
        #expect(
            failure?.failingURL == url && failure?.userInfo["NSErrorFailingURLStringKey"] as? String == "http://host/"
        )
    }

    #if DEBUG
    @Test func `a handler that waits on the engine's thread is reported once`() async {
        await #expect(processExitsWith: .success) {
            let reports = Log<String>()
            DeferredDiagnostics.blockedHandler = { reports.add("\($0.operation)") }
            let server = try LoopbackServer { _ in .response(body: "hello").delayed(by: .milliseconds(20)) }
            let client = Self.client()
            for _ in 0..<3 {
                let isDone = Deferred<Void>()
                client.begin(server.url("/")).upon(.immediate) { _ in
                    _ = Future<Int>.never.wait(until: .now() + .milliseconds(1))
                    isDone.fill()
                }
                await isDone.value
            }
            #expect(reports.entries == ["wait(until:)"])
        }
    }
    #endif

    // MARK: Shutting down

    @Test func `nothing is left of clients that were shut down, invalidated or dropped`() async throws {
        await #expect(processExitsWith: .success) {
            // Without descriptors that system libraries may open at any time, such as timers.
            func descriptors() -> Int {
                let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
                return all.count { descriptor in
                    let path = "/proc/self/fd/\(descriptor)"
                    let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
                    return target.hasPrefix("socket:") || target.contains("eventfd") || target.contains("eventpoll")
                }
            }
            func threads() -> Int {
                let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                return tasks.count { task in
                    (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8))?.hasPrefix(
                        "Deferred.curl"
                    )
                        ?? false
                }
            }
            let server = try LoopbackServer { $0.path == "/stall" ? [.stall] : .response(body: "hello") }
            // Opens the descriptors that the process keeps for good.
            _ = try await Self.client().begin(server.url("/")).get()
            try await eventually { threads() == 0 && server.openConnectionCount == 0 }
            let before = descriptors()
            for round in 0..<60 {
                let client = Self.client()
                if round % 3 > 0 { _ = try await client.begin(server.url("/")).get() }
                let running = round % 2 == 0 ? client.begin(server.url("/stall")) : nil
                switch round % 4 {
                case 0: await client.invalidateAndCancel().value
                case 1: await client.shutdown().value
                case 2: client.cancelAll()
                default: break
                }
                running?.cancel()
            }
            try await eventually {
                threads() == 0 && server.openConnectionCount == 0 && descriptors() <= before
            }
            server.stop()
        }
    }

    // MARK: Settings

    @Test func `a setting that a session doesn't support is refused at once, with the engine that does`() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        let changes: [(String, @Sendable (inout URLClient.Configuration) -> Void)] = [
            ("tls", { $0.tls.minimumVersion = .v1_3 }),
            ("proxy", { $0.proxy = .none }),
            ("unixSocketPath", { $0.unixSocketPath = "/nowhere" }),
            ("httpVersion", { $0.httpVersion = .http1_1 }),
            ("streamBufferLimit", { $0.streamBufferLimit = 1 }),
        ]
        for (name, change) in changes {
            let client = URLClient.fresh {
                change(&$0)
                $0.engine = .urlSession
            }
            guard case .failure(let error as URLClientError) = try #require(client.begin(url).peek()),
                case .engineUnavailable(let reason) = error.code
            else {
                Issue.record("\(name) is not refused")
                continue
            }
            #expect(reason.contains(name) && reason.contains(".libcurl"))
            await client.shutdown().value
        }
    }

    @Test func `the last event of a request has the times of its parts`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let metrics = Log<URLClient.Metrics>()
        let client = Self.client { $0.monitor = { event in event.metrics.map { metrics.add($0) } } }
        _ = try await client.begin(server.url("/")).get()
        _ = try await client.begin(server.url("/")).get()
        let entries = metrics.entries
        #expect(entries.map(\.isReused) == [false, true])
        #expect(entries.allSatisfy { $0.protocolVersion == "HTTP/1.1" && $0.address == "127.0.0.1:\(server.port)" })
        #expect(
            entries.allSatisfy { $0.connect <= $0.firstByte && $0.firstByte <= $0.total && $0.tlsHandshake == .zero }
        )
    }

    @Test func `the times of a request are measured for a monitor of its own`() async throws {
        let server = try LoopbackServer { _ in .response(body: "hello") }
        defer { server.stop() }
        let metrics = Log<URLClient.Metrics>()
        let options = URLClient.RequestOptions(monitor: { event in event.metrics.map { metrics.add($0) } })
        let client = Self.client()
        _ = try await client.begin(server.url("/"), options: options).get()
        #expect(metrics.entries.map(\.address) == ["127.0.0.1:\(server.port)"])
        _ = try await client.begin(server.url("/")).get()
        #expect(metrics.entries.count == 1)
    }

    @Test func `a client that gets no descriptors fails with that reason, and works once there are some`() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            // Opens what the process keeps open, such as the library and the descriptors of timers.
            #expect(try await Self.client().begin(server.url("/")).text() == "hello")
            let client = Self.client()
            var before = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
            var none = before
            none.rlim_cur = 0
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            let failed = await client.begin(server.url("/")).result
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
            let error = #expect(throws: URLError.self) { try failed.get() }
            #expect(error?.localizedDescription.hasPrefix("Cannot start a thread: Too many open files; raise") == true)
            #expect(try await client.begin(server.url("/")).text() == "hello")
        }
    }

    /// A sanitizer takes address space for each byte.
    @Test(.enabled(if: !isSanitized))
    func `with little address space, requests go on, and a thread that has no room is an error`() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let client = Self.client { $0.maximumConnectionsPerHost = 1 }
            #expect(try await client.begin(server.url("/")).text() == "hello")
            let other = Self.client()
            var before = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
            let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            let used = (fields.first.flatMap { UInt($0) } ?? 0) * UInt(sysconf(Int32(_SC_PAGESIZE)))
            var tight = before
            // Less than the stack of a thread.
            tight.rlim_cur = rlim_t(used + 4 << 20)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &tight)
            let refused = await other.begin(server.url("/")).failure()
            var count = 0
            while count < 500, case .status(200) = await client.begin(server.url("/")).ending() { count += 1 }
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
            #expect(refused?.localizedDescription.hasPrefix("Cannot start a thread: ") == true)
            #expect(count == 500)
            #expect(try await other.begin(server.url("/")).text() == "hello")
        }
    }

    @Test func `the numbers of libcurl's options are those that it has`() {
        let options: [(String, Int)] = [
            ("SSLVERSION", CURLOPT_SSLVERSION), ("NOBODY", CURLOPT_NOBODY), ("UPLOAD", CURLOPT_UPLOAD),
            ("FORBID_REUSE", CURLOPT_FORBID_REUSE), ("HTTPGET", CURLOPT_HTTPGET),
            ("HTTP_VERSION", CURLOPT_HTTP_VERSION), ("BUFFERSIZE", CURLOPT_BUFFERSIZE),
            ("NOSIGNAL", CURLOPT_NOSIGNAL), ("CONNECTTIMEOUT_MS", CURLOPT_CONNECTTIMEOUT_MS),
            ("PROTOCOLS", CURLOPT_PROTOCOLS),
            ("SUPPRESS_CONNECT_HEADERS", CURLOPT_SUPPRESS_CONNECT_HEADERS),
            ("UPLOAD_BUFFERSIZE", CURLOPT_UPLOAD_BUFFERSIZE), ("QUICK_EXIT", CURLOPT_QUICK_EXIT),
            ("WRITEDATA", CURLOPT_WRITEDATA), ("URL", CURLOPT_URL), ("PROXY", CURLOPT_PROXY),
            ("READDATA", CURLOPT_READDATA), ("ERRORBUFFER", CURLOPT_ERRORBUFFER), ("USERAGENT", CURLOPT_USERAGENT),
            ("HTTPHEADER", CURLOPT_HTTPHEADER), ("SSLCERT", CURLOPT_SSLCERT), ("KEYPASSWD", CURLOPT_KEYPASSWD),
            ("HEADERDATA", CURLOPT_HEADERDATA), ("CUSTOMREQUEST", CURLOPT_CUSTOMREQUEST), ("CAINFO", CURLOPT_CAINFO),
            ("SSLKEY", CURLOPT_SSLKEY), ("CAPATH", CURLOPT_CAPATH), ("PRIVATE", CURLOPT_PRIVATE),
            ("PROXYHEADER", CURLOPT_PROXYHEADER),
            ("SEEKDATA", CURLOPT_SEEKDATA), ("PINNEDPUBLICKEY", CURLOPT_PINNEDPUBLICKEY),
            ("UNIX_SOCKET_PATH", CURLOPT_UNIX_SOCKET_PATH),
            ("OPENSOCKETFUNCTION", CURLOPT_OPENSOCKETFUNCTION),
            ("WRITEFUNCTION", CURLOPT_WRITEFUNCTION), ("READFUNCTION", CURLOPT_READFUNCTION),
            ("HEADERFUNCTION", CURLOPT_HEADERFUNCTION), ("SEEKFUNCTION", CURLOPT_SEEKFUNCTION),
            ("INFILESIZE_LARGE", CURLOPT_INFILESIZE_LARGE), ("CAINFO_BLOB", CURLOPT_CAINFO_BLOB),
        ]
        var reason: UnsafePointer<CChar>?
        #expect(libcurl_load(&reason) >= 0x074400)
        // Before 7.73, libcurl doesn't tell; an option that is newer than the library is unknown there.
        guard let function = dlsym(dlopen("libcurl.so.4", RTLD_NOW), "curl_easy_option_by_name") else { return }
        typealias OptionByName = @convention(c) (UnsafePointer<CChar>) -> UnsafeRawPointer?
        let find = unsafeBitCast(function, to: OptionByName.self)
        for (name, number) in options {
            guard let option = find(name) else { continue }
            let afterName = MemoryLayout<UnsafeRawPointer>.size
            #expect(option.load(fromByteOffset: afterName, as: Int32.self) == number, "\(name)")
        }
    }
}
#endif
