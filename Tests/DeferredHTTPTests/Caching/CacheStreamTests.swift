import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

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

        func stub(_ headers: HTTPHeaders) -> StubLoader {
            StubLoader(
                .response(headers: headers) {
                    HTTPBodyStream(
                        self.bytes.stream.map { bytes in
                            self.reads.add(1, ordering: .relaxed)
                            return bytes
                        }
                    ) {
                        self.cancelled.store(true, ordering: .relaxed)
                    }
                },
                .response(body: "other")
            )
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
            do {
                let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
                source.send("one")
                var iterator = stream.makeAsyncIterator()
                _ = try await iterator.next()
            }
            try await eventually { source.isCancelled }
            #expect(try await chain.load(.cacheable()).get().text == "other" && stub.requests.count == 2)
        }
    }

    @Test func `a stream that nobody reads is cancelled when it is released`() async throws {
        for cache in caches() {
            let source = Source()
            _ = try await (cache --> source.stub(headers(3))).load(.cacheable().streamed()).get()
            try await eventually { source.isCancelled }
        }
    }

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
            let (first, second) = (chain.load(.cacheable().streamed()), chain.load(.cacheable().streamed()))
            try await eventually { stub.tasksInFlight.count == 1 }
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

    @Test func `streams of unknown length, and too large ones, are not shared, and delivered`()
        async throws
    {
        for (cache, header) in zip(caches(), [headers(), headers(4 << 20)]) {
            let source = Source()
            let stub = source.stub(header)
            let chain = cache --> stub
            let first = try #require(try await chain.load(.cacheable().streamed()).get().stream)
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
