import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheStreamTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches() -> [Cache] {
        [
            clock.cache(.memory(capacity: 10 << 20)),
            clock.cache(.disk(at: folder.url.appending(path: UUID().uuidString), capacity: 10 << 20)),
        ]
    }

    /// A body that the test sends piece by piece.
    private final class Source: Sendable {
        let bytes = AsyncStream<Data>.makeStream()
        private let cancelled = Atomic(false)
        private let reads = Atomic(0)

        var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
        var readCount: Int { reads.load(ordering: .relaxed) }

        func stub(_ headers: HTTPHeaders) -> StubLoader { StubLoader(answer(headers), .response(body: "other")) }

        func answer(_ headers: HTTPHeaders) -> StubLoader.Answer {
            .response(headers: headers) {
                HTTPBodyStream(
                    self.bytes.stream.map { bytes in
                        self.reads.add(1, ordering: .relaxed)
                        return bytes
                    }
                ) {
                    self.cancelled.store(true, ordering: .relaxed)
                }
            }
        }

        func send(_ pieces: String...) {
            for piece in pieces { bytes.continuation.yield(Data(piece.utf8)) }
        }

        func end() { bytes.continuation.finish() }
    }

    private func headers(_ length: Int? = nil) -> HTTPHeaders {
        var headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
        headers["Content-Length"] = length.map(String.init)
        return headers
    }

    @Test func `a stream is stored when it has been read`() async throws {
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers())
            let chain = cache --> stub
            let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            source.send("one", "two")
            source.end()
            #expect(try await stream.collect() == Data("onetwo".utf8))
            let response = try await chain.load(.cacheable()).get()
            #expect(
                response.text == "onetwo" && response.headers["Age"] == "0" && stub.requests.count == 1
            )
        }
    }

    @Test func `the iterators of a stored stream share its bytes`() async throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        for cache in caches() {
            let stub = StubLoader(.response(headers: headers(), data: bytes), .response(body: "other"))
            let chain = cache --> stub
            _ = try await chain.load(.cacheable()).get()
            await cache.flush().value
            let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            var iterator = stream.makeAsyncIterator()
            let first = try await iterator.next()
            var read = try #require(first)
            #expect(read.count < bytes.count)
            for try await piece in stream { read += piece }
            #expect(read == bytes && stub.requests.count == 1)
            #expect(try await stream.collect().isEmpty)
        }
    }

    @Test func `the reader's pace is that of the transfer`() async throws {
        for cache in caches() {
            let source = Source()
            let chain = cache --> source.stub(headers(6))
            let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            source.send("one", "two")
            var iterator = stream.makeAsyncIterator()
            #expect(try await iterator.next() == Data("one".utf8))
            #expect(source.readCount == 1)
        }
    }

    @Test func `what is shorter than announced, or was not read to its end, is not stored`()
        async throws
    {
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers(4))
            let chain = cache --> stub
            let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            source.send("one")
            source.end()
            #expect(try await stream.collect() == Data("one".utf8))
            #expect(try await chain.load(.cacheable()).get().text == "other" && stub.requests.count == 2)
        }
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers())
            let chain = cache --> stub
            try await readBeginning(chain, source)
            try await eventually { source.isCancelled }
            #expect(try await chain.load(.cacheable()).get().text == "other" && stub.requests.count == 2)
        }
    }

    /// Reads the first piece of a stream, and leaves.
    private func readBeginning(_ chain: some HTTPLoader, _ source: Source) async throws {
        let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        source.send("one")
        var iterator = stream.makeAsyncIterator()
        _ = try await iterator.next()
    }

    @Test func `a stream that nobody reads is cancelled when it is released`() async throws {
        for cache in caches() {
            let source = Source()
            _ = try await (cache --> source.stub(headers(100_000))).load(.cacheable().streamed()).get()
            try await eventually { source.isCancelled }
        }
    }

    // MARK: - Readers that leave early

    @Test func `when a reader leaves, a small rest is read on`() async throws {
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers(6))
            let chain = cache --> stub
            try await readBeginning(chain, source)
            // Meanwhile, another reader can have it.
            let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            source.send("two")
            source.end()
            #expect(try await second.collect() == Data("onetwo".utf8))
            try await eventually { cache.statistics.stored == 1 }
            #expect(try await chain.load(.cacheable()).get().text == "onetwo" && stub.requests.count == 1)
            #expect(!source.isCancelled)
        }
    }

    @Test func `a small rest that doesn't come soon, and a large one, are given up`() async throws {
        for length in [6, 100_000] {
            for cache in caches() {
                let source = Source()
                let chain = cache --> source.stub(headers(length))
                do {
                    let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
                    source.send("one")
                    var iterator = stream.makeAsyncIterator()
                    _ = try await iterator.next()
                }
                if length == 6 {
                    try await clock.clock.waitForSleepers()
                    #expect(!source.isCancelled)
                    clock.advance(by: 0.1)
                }
                try await eventually { source.isCancelled }
                // Without a validator, nobody could tell whether the rest belongs to it.
                await cache.flush().value
                #expect(cache.statistics.stored == 0)
                #expect(try await chain.load(.cacheable()).get().text == "other")
            }
        }
    }

    @Test func `of a large body that was read in part, only the rest is asked for`() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        for cache in caches() {
            for (isStreamed, isChanged) in [(false, false), (true, false), (true, true)] {
                let source = Source()
                let whole: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\"", "Content-Length": "200000"]
                let stub = StubLoader(answering: { request in
                    guard let range = request.headers["Range"] else {
                        return .response(headers: whole) { HTTPBodyStream(source.bytes.stream) }
                    }
                    #expect(range == "bytes=70000-" && request.headers["If-Range"] == "\"a\"")
                    if isChanged { return .response(headers: ["Content-Length": "3"]) { .pieces("new") } }
                    let headers: HTTPHeaders = ["ETag": "\"a\"", "Content-Range": "bytes 70000-199999/200000"]
                    let rest = String(body.dropFirst(70_000))
                    return isStreamed
                        ? .response(206, headers: headers) { .pieces(rest) }
                        : .response(206, headers: headers, body: rest)
                })
                let chain = cache --> stub
                let path = "/\(isStreamed) \(isChanged)"
                do {
                    let request = HTTPRequest.cacheable(.get, path).streamed()
                    let stream = try #require(try await chain.load(request).get().stream)
                    source.send(String(body.prefix(70_000)))
                    var iterator = stream.makeAsyncIterator()
                    _ = try await iterator.next()
                }
                let request = HTTPRequest.cacheable(.get, path)
                let part = HTTPRequest.cacheable(.get, path, ["Range": "bytes=1-3"]).with(.onlyCached)
                try await eventually { chain.load(part).textLater == "123" }
                let response = try await chain.load(isStreamed ? request.streamed() : request).get()
                let bytes = try await response.stream?.collect() ?? response.body
                #expect(String(decoding: bytes, as: UTF8.self) == (isChanged ? "new" : body))
                #expect(response.status == .ok && stub.requests.count == 2)
                guard !isChanged else { continue }
                #expect(response.headers["Content-Range"] == nil && response.headers["Content-Length"] == "200000")
                #expect(response.source == .validated(age: .zero))
                #expect(try await chain.load(request).get().text == body && stub.requests.count == 2)
            }
        }
    }

    @Test func `of a rest that was read in part, too, only what is missing is asked for`() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        for cache in caches() {
            let sources = (Source(), Source())
            let whole: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\"", "Content-Length": "200000"]
            let stub = StubLoader(answering: { request in
                switch request.headers["Range"] {
                case nil:
                    return sources.0.answer(whole)
                case "bytes=70000-":
                    let headers: HTTPHeaders = ["ETag": "\"a\"", "Content-Range": "bytes 70000-199999/200000"]
                    return .response(206, headers: headers) { HTTPBodyStream(sources.1.bytes.stream) }
                case let range:
                    #expect(range == "bytes=100000-")
                    let headers: HTTPHeaders = ["ETag": "\"a\"", "Content-Range": "bytes 100000-199999/200000"]
                    return .response(206, headers: headers, body: String(body.dropFirst(100_000)))
                }
            })
            let chain = cache --> stub
            sources.0.send(String(body.prefix(70_000)))
            sources.1.send(String(body.dropFirst(70_000).prefix(30_000)))
            for count in [70_000, 100_000] {
                do {
                    let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
                    var (iterator, read) = (stream.makeAsyncIterator(), 0)
                    while read < count, let bytes = try await iterator.next() { read += bytes.count }
                    #expect(read == count)
                }
                let range: HTTPHeaders = ["Range": "bytes=\(count - 3)-\(count - 1)"]
                let part = HTTPRequest.cacheable(.get, "/", range).with(.onlyCached)
                try await eventually { chain.load(part).textLater == "789" }
            }
            #expect(try await chain.load(.cacheable()).get().text == body && stub.requests.count == 3)
        }
    }

    @Test func `a part of what is there as a whole doesn't take its place`() async throws {
        let body = String(repeating: "0123456789", count: 20_000)
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "ETag": "\"a\"", "Content-Length": "200000"]
        for cache in caches() {
            let source = Source()
            let stub = StubLoader(.response(headers: headers, body: body), source.answer(headers))
            let chain = cache --> stub
            #expect(try await chain.load(.cacheable()).get().text == body)
            do {
                let stream = try #require(try await chain.load(.cacheable().with(.reload).streamed()).get().stream)
                source.send("0123456789")
                var iterator = stream.makeAsyncIterator()
                _ = try await iterator.next()
            }
            try await eventually { source.isCancelled }
            await cache.flush().value
            #expect(try await chain.load(.cacheable()).get().text == body && stub.requests.count == 2)
        }
    }

    // MARK: - Several readers

    @Test func `equal streams are one transfer, whoever reads first`() async throws {
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers(6))
            let chain = cache --> stub
            var streams: [HTTPBodyStream] = []
            for _ in 0..<20 {
                streams.append(try #require(try await chain.load(.cacheable().streamed()).get().stream))
            }
            let whole = chain.load(.cacheable())
            #expect(stub.requests.count == 1)
            source.send("one", "two")
            source.end()
            // The last first: no reader needs another one.
            for stream in streams.reversed() {
                #expect(try await stream.collect() == Data("onetwo".utf8))
            }
            // On a busy machine its look-up may end after the transfer, but have begun before: then it is sent.
            let text = try await whole.get().text
            #expect(stub.requests.count == 1 ? text == "onetwo" : stub.requests.count == 2 && text == "other")
        }
    }

    @Test func `many readers at once each get all bytes`() async throws {
        for cache in caches() {
            let source = Source()
            let chain = cache --> source.stub(headers(3_000))
            var streams: [HTTPBodyStream] = []
            for _ in 0..<8 {
                streams.append(try #require(try await chain.load(.cacheable().streamed()).get().stream))
            }
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for stream in streams { group.addTask { try await stream.collect().count } }
                for _ in 0..<1_000 { source.send("abc") }
                source.end()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 3_000, count: 8))
        }
    }

    @Test func `a reader that leaves, or whose task is cancelled, leaves the others alone`()
        async throws
    {
        for cache in caches() {
            let source = Source()
            let chain = cache --> source.stub(headers(6))
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            let reading = _Concurrency.Task { try await first.collect() }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            first.cancel()
            source.send("one", "two")
            source.end()
            #expect(try await second.collect() == Data("onetwo".utf8) && !source.isCancelled)
        }
    }

    @Test func `a stream whose request is cancelled as its head arrives is for nobody else`() async throws {
        for cache in caches() {
            let stub = StubLoader(
                .pending.ignoringCancellation(),
                .response(headers: headers(3)) {
                    HTTPBodyStream(
                        AsyncStream<Data> { continuation in
                            continuation.yield(Data("one".utf8))
                            continuation.finish()
                        }
                    )
                }
            )
            let chain = cache --> stub
            // On disk, the second one could overtake the first.
            let first = chain.load(.cacheable().streamed())
            try await eventually { stub.tasksInFlight.count == 1 }
            let second = chain.load(.cacheable().streamed())
            let sent = stub.tasksInFlight[0]
            first.cancel()
            let cut = HTTPBodyStream(AsyncThrowingStream<Data, any Error> { $0.finish(throwing: CancellationError()) })
            sent.complete(
                with: .success(HTTPResponse(request: sent.request, status: .ok, headers: headers(3), stream: cut))
            )
            #expect(try await second.get().stream?.collect() == Data("one".utf8))
        }
    }

    @Test func `a transfer that fails fails for all, and nothing is stored`() async throws {
        for cache in caches() {
            let failing = AsyncThrowingStream<Data, any Error>.makeStream()
            let stub = StubLoader(
                .response(headers: headers(6)) { HTTPBodyStream(failing.stream) },
                .response(body: "other")
            )
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            failing.continuation.yield(Data("one".utf8))
            failing.continuation.finish(throwing: HTTPError(.connectionLost, request: .cacheable()))
            for stream in [first, second] {
                await #expect(throws: HTTPError.self) { try await stream.collect() }
            }
            #expect(try await chain.load(.cacheable()).get().text == "other")
        }
    }

    @Test func `damage to a body that is still being written is not delivered`() async throws {
        let url = folder.url.appending(path: "cache")
        let source = Source()
        let chain = clock.cache(.disk(at: url, capacity: 10 << 20)) --> source.stub(headers(6))
        let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        var iterator = first.makeAsyncIterator()
        for piece in ["one", "two"] {
            source.send(piece)
            #expect(try await iterator.next() == Data(piece.utf8))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter { $0.hasPrefix("b-") }
        let file = try FileHandle(forWritingTo: url.appending(path: try #require(names.first)))
        try file.write(contentsOf: Data("x".utf8))
        try file.close()
        let error = await #expect(throws: HTTPError.self) { try await second.collect() }
        #expect("\(try #require(error))".contains("the stored response is damaged"))
        // Nobody else shares it, and it isn't stored.
        #expect(try await chain.load(.cacheable()).get().text == "other")
        source.end()
        #expect(try await iterator.next() == nil)
        #expect(try await chain.load(.cacheable()).get().source == .network)
    }

    @Test func `streams of unknown length, and too large ones, are not shared, and delivered`()
        async throws
    {
        for (cache, header) in zip(caches(), [headers(), headers(4 << 20)]) {
            let source = Source()
            let stub = source.stub(header)
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            if header["Content-Length"] != nil {
                // Not even begun to be stored.
                let paths = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                    .map { folder.url.appending(path: $0).path }
                let files = try paths.flatMap { try FileManager.default.contentsOfDirectory(atPath: $0) }
                #expect(!files.contains { $0.hasPrefix("b-") } && !files.isEmpty)
            }
            let second = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            #expect(try await second.collect() == Data("other".utf8) && stub.requests.count == 2)
            source.send("one")
            source.end()
            #expect(try await first.collect() == Data("one".utf8))
        }
    }

    @Test func `a body that turns out too large is delivered, and not stored`() async throws {
        let source = Source()
        let cache = clock.cache(.memory(capacity: 100_000))
        let stub = source.stub(headers())
        let chain = cache --> stub
        let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        for _ in 0..<20 { source.send(String(repeating: "a", count: 1_000)) }
        source.end()
        #expect(try await stream.collect().count == 20_000 && cache.statistics.bytes == 0)
    }

    @Test func `a stream that was sent for before a change is not stored after it`() async throws {
        for cache in caches() {
            let source = Source()
            let stub = source.stub(headers(3))
            let chain = cache --> stub
            let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
            _ = await chain.load(.cacheable(.put)).result
            #expect(stub.requests.count == 2)
            source.send("one")
            source.end()
            #expect(try await stream.collect() == Data("one".utf8))
            #expect(try await chain.load(.cacheable()).get().text == "other")
        }
    }

    @Test func `a file is stored as it was delivered, and delivered as it was stored`() async throws {
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 >> 5) })
        for cache in caches() {
            let stub = StubLoader(
                .response(headers: headers(large.count), data: large),
                .response(body: "other")
            )
            let chain = cache --> stub
            var request = HTTPRequest.cacheable()
            request.delivery = .file(folder.file)
            for _ in 0..<2 {
                let file = try #require(try await chain.load(request).get().file)
                #expect(try Data(contentsOf: file) == large)
                // The file is the user's.
                try Data("changed".utf8).write(to: file)
            }
            #expect(try await chain.load(.cacheable()).get().body == large && stub.requests.count == 1)
        }
    }

    @Test func `a destination that can't be written does no harm to what is stored`() async throws {
        for cache in caches() {
            let stub = StubLoader(.response(headers: headers(3), body: "one"), .failure(.unknown))
            let chain = cache --> stub
            #expect(try await chain.load(.cacheable()).get().text == "one")
            try await eventually { cache.statistics.stored == 1 }
            var request = HTTPRequest.cacheable()
            request.delivery = .file(folder.url.appending(path: "none/file"))
            await #expect(throws: HTTPError.self) { try await chain.load(request).get() }
            #expect(try await chain.load(.cacheable().with(.onlyCached)).get().text == "one")
            #expect(cache.statistics.damaged == 0 && stub.requests.count == 2)
        }
    }

    @Test func `a file that is shorter than announced is not stored`() async throws {
        for cache in caches() {
            let stub = StubLoader(.response(headers: headers(4), body: "one"), .response(body: "other"))
            let chain = cache --> stub
            var request = HTTPRequest.cacheable()
            request.delivery = .file(folder.file)
            _ = try await chain.load(request).get()
            #expect(try await chain.load(.cacheable()).get().text == "other")
        }
    }

    @Test func `after the end nothing is kept`() async throws {
        let lifetimes = Lifetimes()
        for cache in caches() {
            for isRead in [true, false] {
                let token = lifetimes.make()
                let stub = StubLoader(
                    .response(headers: headers(3)) { [token] in
                        HTTPBodyStream(
                            AsyncStream<Data> { continuation in
                                continuation.yield(Data("one".utf8))
                                continuation.finish()
                            }.map { bytes in
                                token.touch()
                                return bytes
                            }
                        )
                    }
                )
                let chain = cache --> stub
                let request = HTTPRequest.cacheable(.get, isRead ? "/read" : "/unread").streamed()
                let stream = try #require(try await chain.load(request).get().stream)
                if isRead { _ = try await stream.collect() }
            }
        }
        try await eventually { lifetimes.count == 0 }
    }
}

extension HTTPBodyStream {
    /// A body that is there.
    static func pieces(_ pieces: String...) -> HTTPBodyStream {
        HTTPBodyStream(
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        )
    }
}
