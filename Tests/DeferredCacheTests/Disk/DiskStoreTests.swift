import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskStoreTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory
    private var path: String { folder.url.appending(path: "cache").path }

    init() throws { folder = try TemporaryDirectory() }

    private func cache(capacity: Int = 1 << 20) -> Cache {
        clock.cache(.disk(at: folder.url.appending(path: "cache"), capacity: capacity))
    }

    private func files(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }.sorted()
    }

    /// Loads a request, and waits until its response is stored.
    @discardableResult
    private func store(_ chain: some HTTPLoader, _ request: HTTPRequest = .cacheable()) -> String? {
        let text = chain.load(request).textLater
        _ = chain.load(request.with(.onlyCached)).textLater
        return text
    }

    private let answer = StubLoader.Answer.response(
        headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""],
        body: "one"
    )

    @Test func `a response outlives its process`() throws {
        let stub = StubLoader(answer)
        #expect(store(cache() --> stub) == "one")
        clock.advance(by: 3)
        let response = try #require((cache() --> stub).load(.cacheable()).responseLater)
        #expect(response.text == "one" && response.source == .cache(age: .seconds(3), isStale: false))
        #expect(response.headers["ETag"] == "\"a\"" && stub.requests.count == 1)
    }

    @Test func `a wall clock that went back between two processes makes nothing younger`() {
        let stub = StubLoader(answer, .response(.notModified))
        store(cache() --> stub)
        clock.setWall(by: -3_600)
        #expect((cache() --> stub).load(.cacheable()).responseLater?.source == .validated(age: .zero))
    }

    @Test func `a request that is looking for a response while an equal one ends finds that one's`() {
        let stub = StubLoader(answer)
        let chain = cache() --> stub
        let tasks = (0..<100).map { _ in chain.load(.cacheable()) }
        #expect(tasks.allSatisfy { $0.textLater == "one" } && stub.requests.count == 1)
    }

    @Test
    func `a response is found before the folder has been counted, and a cache that is gone doesn't go on counting`()
        async throws
    {
        #expect(store(cache() --> StubLoader(answer)) == "one")
        for number in 0..<20_000 {
            let file = folder.url.appending(path: "cache/b-\(number)").path
            #expect(FileManager.default.createFile(atPath: file, contents: nil))
        }
        let gate = DispatchSemaphore(value: 0)
        let (path, now) = (path, clock.now)
        let storage = Cache.Storage { _ in
            let instant = CacheInstant(wall: Int64(now.timeIntervalSince1970 * 1_000), steady: nil)
            return DiskStore(path, capacity: 1 << 20, now: { instant }) { call in
                if call == .list { gate.wait() }
                return true
            }
        }
        let weakStore: @Sendable () -> Bool
        do {
            let store = storage.makeStore { CacheInstant(wall: 0, steady: nil) }
            weakStore = { [weak store = store as? DiskStore] in store == nil }
            let found = Deferred<Int>()
            let key = try #require(CacheKey(.cacheable()))
            store.find(key) { found.fill(with: $0.count) }
            let count = await found.value
            #expect(count == 1 && store.counts.bytes == 0)
        }
        // It would take more than 300 pauses.
        gate.signal()
        try await eventually { weakStore() }
    }

    @Test func `a request ends although the folder can't be listed yet`() {
        let gate = DispatchSemaphore(value: 0)
        defer { gate.signal() }
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                if call == .list { gate.wait() }
                return true
            }
        }
        let stub = StubLoader(answer)
        let chain = clock.cache(storage) --> stub
        #expect(store(chain) == "one")
        #expect(chain.load(.cacheable()).textLater == "one" && stub.requests.count == 1)
    }

    @Test func `when the cache is flushed, what was read to its end is on disk`() async throws {
        let stub = StubLoader(answer)
        for number in 0..<50 {
            let cache = cache()
            let request = HTTPRequest.cacheable(.get, "/\(number)").streamed()
            let response = try await (cache --> stub).load(request).get()
            #expect(try await response.stream?.collect() == Data("one".utf8))
            await cache.flush().value
            #expect(try files("h-").count == number + 1)
        }
    }

    @Test func `a HEAD for a file leaves the stored body as it is`() throws {
        let stub = StubLoader(answer)
        store(cache() --> stub)
        // Its body has not been read yet.
        let chain = cache() --> stub
        var head = HTTPRequest.cacheable(.head)
        head.delivery = .file(folder.file)
        #expect(chain.load(head).statusLater == .ok)
        #expect(chain.load(.cacheable()).textLater == "one" && stub.requests.count == 1)
    }

    @Test func `an empty body that was streamed has no file`() async throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"]) { HTTPBodyStream.empty })
        let cache = cache()
        let stream = try #require(try await (cache --> stub).load(.cacheable().streamed()).get().stream)
        #expect(try await stream.collect().isEmpty)
        await cache.flush().value
        #expect(try files("h-").count == 1 && files("b-").isEmpty)
        let response = try await (self.cache() --> stub).load(.cacheable()).get()
        #expect(response.body.isEmpty && response.headers["Age"] == "0" && stub.requests.count == 1)
    }

    @Test func `a body whose file was removed while it arrived is not stored`() async throws {
        let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"]) { HTTPBodyStream(bytes) })
        let cache = cache()
        let stream = try #require(try await (cache --> stub).load(.cacheable().streamed()).get().stream)
        sender.yield(Data("one".utf8))
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one".utf8))
        for name in try files("b-") { try FileManager.default.removeItem(atPath: path + "/" + name) }
        sender.finish()
        #expect(try await iterator.next() == nil)
        await cache.flush().value
        #expect(try files("h-").isEmpty && cache.statistics.stored == 0)
    }

    @Test func `a validation renews the head alone`() throws {
        let stub = StubLoader(answer, .response(.notModified, headers: ["Cache-Control": "max-age=99", "A": "2"]))
        let chain = cache() --> stub
        store(chain)
        let bodies = try files("b-")
        clock.advance(by: 10)
        let response = chain.load(.cacheable()).responseLater
        _ = chain.load(.cacheable().with(.onlyCached)).textLater
        #expect(response?.text == "one" && response?.source == .validated(age: .zero))
        clock.advance(by: 10)
        let later = (cache() --> stub).load(.cacheable()).responseLater
        #expect(later?.text == "one" && later?.headers["A"] == "2" && stub.requests.count == 2)
        #expect(try files("b-") == bodies && bodies.count == 1)
    }

    @Test func `a validation of what is in memory reads no file, and neither does the next request`() throws {
        let reads = Atomic(0)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                if call == .open || call == .read { reads.add(1, ordering: .relaxed) }
                return true
            }
        }
        let stub = StubLoader(answer, .response(.notModified, headers: ["Cache-Control": "max-age=99", "A": "2"]))
        let chain = clock.cache(storage) --> stub
        store(chain)
        #expect(chain.load(.cacheable()).textLater == "one")
        let before = reads.load(ordering: .relaxed)
        clock.advance(by: 10)
        let response = chain.load(.cacheable()).responseLater
        #expect(response?.text == "one" && response?.source == .validated(age: .zero))
        clock.advance(by: 10)
        let later = chain.load(.cacheable()).responseLater
        #expect(later?.text == "one" && later?.headers["A"] == "2" && stub.requests.count == 2)
        #expect(reads.load(ordering: .relaxed) == before)
        // And another process has the same.
        let other = (cache() --> stub).load(.cacheable()).responseLater
        #expect(other?.text == "one" && other?.headers["A"] == "2" && stub.requests.count == 2)
    }

    @Test func `a body that is damaged in its midst leaves no file`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"], data: Data(count: 300_000)))
        store(cache(capacity: 10 << 20) --> stub)
        let body = try #require(files("b-").first)
        let handle = try FileHandle(forWritingTo: URL(filePath: path + "/" + body))
        try handle.seek(toOffset: 150_000)
        try handle.write(contentsOf: Data([1]))
        try handle.close()
        var request = HTTPRequest.cacheable().with(.onlyCached)
        request.delivery = .file(folder.file)
        let cache = cache(capacity: 10 << 20)
        #expect((cache --> stub).load(request).statusLater == 504 && cache.statistics.damaged == 1)
        #expect(try folder.contents() == ["cache"])
    }

    @Test func `a file may have the longest name that there is`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"], data: Data(count: 100_000)))
        store(cache(capacity: 10 << 20) --> stub)
        var request = HTTPRequest.cacheable().with(.onlyCached)
        let file = folder.url.appending(path: String(repeating: "n", count: 255))
        request.delivery = .file(file)
        #expect((cache(capacity: 10 << 20) --> stub).load(request).statusLater == .ok)
        #expect(try Data(contentsOf: file).count == 100_000 && folder.contents().count == 2)
    }

    @Test func `a new response replaces the old one and its body`() throws {
        let stub = StubLoader(answer, .response(headers: ["Cache-Control": "max-age=10"], body: "two"))
        let chain = cache() --> stub
        _ = chain.load(.cacheable()).textLater
        clock.advance(by: 10)
        #expect(chain.load(.cacheable()).textLater == "two" && chain.load(.cacheable()).textLater == "two")
        #expect(try files("b-").count == 1 && files("h-").count == 1 && files("t-").isEmpty)
        #expect(stub.requests.count == 2)
    }

    @Test func `a change, and removing, leave no file behind`() throws {
        let stub = StubLoader(answer)
        let cache = cache()
        let chain = cache --> stub
        _ = chain.load(.cacheable()).textLater
        _ = chain.load(.cacheable(.put)).textLater
        #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
        #expect(try files("b-").isEmpty && files("h-").isEmpty)
        for path in ["/a", "/b"] { _ = chain.load(.cacheable(.get, path)).textLater }
        try folder.write("", to: "cache/notes")
        _ = cache.removeAll().wait()
        #expect(try files("").filter { $0 != "room" } == ["lock", "notes", "salt"])
    }

    @Test func `what was removed no longer counts as stored bytes`() throws {
        let path = path
        let storage = Cache.Storage { now in
            // The folder isn't looked through, so that only what is stored now counts.
            DiskStore(path, capacity: 1 << 20, now: now) { $0 != .list }
        }
        let cache = clock.cache(storage)
        let chain =
            cache
            --> StubLoader { request in
                .response(headers: ["Cache-Control": "max-age=10"], body: request.path == "/empty" ? "" : "one")
            }
        for path in ["/a", "/b", "/empty"] { store(chain, .cacheable(.get, path)) }
        // A block for the head, and one for the body, of which an empty one has none.
        #expect(cache.statistics.bytes == 5 * 4_096)
        cache.remove(try #require(URL(string: "https://example.com/a")))
        #expect(chain.load(.cacheable(.get, "/a").with(.onlyCached)).statusLater == 504)
        #expect(cache.statistics.bytes == 3 * 4_096)
    }

    @Test func `variants, empty bodies and large ones`() async throws {
        let large = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let stub = StubLoader(answering: { request in
            let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Vary": "A"]
            if request.path == "/large" { return .response(headers: headers, data: large) }
            return .response(headers: headers, body: request.headers["A"] ?? "")
        })
        let chain = cache(capacity: 10 << 20) --> stub
        for _ in 0..<2 {
            for value in ["1", "2"] {
                #expect(chain.load(.cacheable(.get, "/", ["A": value])).textLater == value)
            }
            #expect(chain.load(.cacheable()).textLater == "")
            #expect(chain.load(.cacheable(.get, "/large")).responseLater?.body == large)
        }
        #expect(stub.requests.count == 4)
        let part = chain.load(.cacheable(.get, "/large", ["Range": "bytes=65530-200000"])).responseLater
        #expect(part?.body == large[65_530...200_000] && part?.status == 206)
        let stream = try #require(chain.load(.cacheable(.get, "/large").streamed()).responseLater?.stream)
        #expect(try await stream.collect() == large)
        var request = HTTPRequest.cacheable(.get, "/large")
        request.delivery = .file(folder.file)
        let file = try #require(chain.load(request).responseLater?.file)
        #expect(try Data(contentsOf: file) == large && folder.contents() == ["cache", "file"])
        #expect(stub.requests.count == 4)
    }

    @Test func `a small response that is asked for again comes from memory, until the folder has another one`() throws {
        let reads = Atomic(0)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                if call == .read { reads.add(1, ordering: .relaxed) }
                return true
            }
        }
        let two = StubLoader.Answer.response(headers: ["Cache-Control": "max-age=9"], body: "two")
        let stub = StubLoader(answer, .response(.noContent), two)
        let chain = clock.cache(storage) --> stub
        store(chain)
        #expect(chain.load(.cacheable()).textLater == "one")
        let before = reads.load(ordering: .relaxed)
        for _ in 0..<10 { #expect(chain.load(.cacheable()).textLater == "one") }
        let part = chain.load(.cacheable(.get, "/", ["Range": "bytes=1-2"])).textLater
        #expect(part == "ne" && reads.load(ordering: .relaxed) == before)
        // Another process changes the resource, and stores it again.
        let other = cache() --> stub
        _ = other.load(.cacheable(.put)).textLater
        _ = other.load(.cacheable().with(.onlyCached)).statusLater
        #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
        store(other)
        #expect(chain.load(.cacheable()).textLater == "two" && stub.requests.count == 3)
    }

    @Test func `what is kept in memory of a folder is limited, and what was used last stays`() throws {
        let front = DiskFront(capacity: 40_000)
        let head = StoredHead(
            status: .ok,
            headers: [:],
            variant: Variant(names: [], digest: [], languageDigest: []),
            extent: .init(count: 3_000, total: 3_000),
            requestTime: CacheInstant(wall: 0, steady: nil),
            responseTime: CacheInstant(wall: 0, steady: nil),
            ageValue: 0
        )
        let response = StoredResponse(head: head, body: BodyBytes(Data(count: 3_000)), version: 1)
        let keys = try (0..<30).map { try #require(CacheKey(.cacheable(.get, "/\($0)"))) }
        let file = CacheFolder.Status.Identity(number: 1, size: 1, changed: 1)
        let contents = HeadFile(key: "", variants: [])
        for key in keys {
            front.put(key, .init(name: "h-", file: file, head: contents, responses: [response]))
            _ = front.find(keys[0])
        }
        let kept = keys.indices.filter { front.find(keys[$0]) != nil }
        #expect(kept.count > 5 && kept.count <= 10 && kept.contains(0) && kept.contains(29) && !kept.contains(15))
        front.remove(keys[0])
        #expect(front.find(keys[0]) == nil)
        front.removeAll()
        #expect(keys.allSatisfy { front.find($0) == nil })
    }

    @Test func `of more variants than the limit, the oldest go`() throws {
        let stub = StubLoader(answering: { request in
            .response(headers: ["Cache-Control": "max-age=10", "Vary": "A"], body: request.headers["A"] ?? "")
        })
        let chain = cache() --> stub
        let limit = MemoryStore.variantLimit
        for number in 0..<limit + 2 { store(chain, .cacheable(.get, "/", ["A": "\(number)"])) }
        let found = (0..<limit + 2).filter { number in
            chain.load(.cacheable(.get, "/", ["A": "\(number)"]).with(.onlyCached)).statusLater == .ok
        }
        #expect(found == Array(2..<limit + 2))
        #expect(try files("b-").count == limit)
    }

    #if os(Linux)
    @Test func `a cache that is gone has nothing open in its folder`() async throws {
        let name = folder.url.lastPathComponent
        func openFiles() throws -> [String] {
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            let targets = files.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            return targets.filter { $0.contains(name) }
        }
        do {
            let cache = cache()
            store(cache --> StubLoader(answer))
            #expect(try !openFiles().isEmpty)
        }
        try await eventually { (try? openFiles().isEmpty) == true }
    }
    #endif

    @Test func `a body that is being read outlives its removal`() async throws {
        let large = Data(repeating: 7, count: 300_000)
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"], data: large))
        let cache = cache(capacity: 10 << 20)
        let chain = cache --> stub
        _ = chain.load(.cacheable()).textLater
        let stream = try #require(chain.load(.cacheable().streamed()).responseLater?.stream)
        var iterator = stream.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        await cache.removeAll().value
        while let bytes = try await iterator.next() { count += bytes.count }
        #expect(count == large.count)
    }

    @Test func `the capacity is kept`() async throws {
        let stub = StubLoader(answering: { _ in
            .response(headers: ["Cache-Control": "max-age=10"], data: Data(count: 4_000))
        })
        let cache = cache(capacity: 200_000)
        let chain = cache --> stub
        for number in 0..<100 { _ = chain.load(.cacheable(.get, "/\(number)")).textLater }
        _ = chain.load(.cacheable().with(.onlyCached)).textLater
        try await eventually { cache.statistics.bytes <= 200_000 }
        #expect(cache.statistics.evicted > 50 && cache.statistics.evicted < 90, "\(cache.statistics)")
        let sizes = try files("").map { name in
            var status = stat()
            return lstat(path + "/" + name, &status) == 0 ? Int(status.st_blocks) * 512 : 0
        }
        #expect(sizes.reduce(0, +) <= 210_000)
    }

    // MARK: - Damage

    /// Stores a response in a folder of its own, changes the folder, and asks again.
    private func reply(after change: (String) throws -> Void) throws -> (text: String?, requestCount: Int, Cache) {
        let stub = StubLoader(answer, .response(body: "two"))
        store(cache() --> stub)
        try change(path)
        let cache = cache()
        return ((cache --> stub).load(.cacheable()).textLater, stub.requests.count, cache)
    }

    @Test(arguments: ["h-", "b-", "salt"])
    func `a file that is cut, changed, or gone is a miss`(prefix: String) throws {
        _ = try reply { _ in }
        let name = try #require(files(prefix).first)
        let file = path + "/" + name
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: file)))
        var wrong = 0
        func check(_ changed: [UInt8]?) throws {
            // The other files, too, may have been removed since.
            for old in try files("") { try FileManager.default.removeItem(atPath: path + "/" + old) }
            for (old, contents) in kept { try contents.write(to: URL(filePath: path + "/" + old)) }
            if let changed {
                try Data(changed).write(to: URL(filePath: file))
            } else {
                try FileManager.default.removeItem(atPath: file)
            }
            let stub = StubLoader(.response(body: "two"))
            // Until what is damaged has been removed.
            if store(cache() --> stub) != "two" { wrong += 1 }
        }
        let kept = try files("").map { ($0, try Data(contentsOf: URL(filePath: path + "/" + $0))) }
        // The salt only matters for responses that vary: another one is as good.
        let isSalt = prefix == "salt"
        if !isSalt { try check(nil) }
        // HeadFileTests has each byte.
        for index in stride(from: 0, to: bytes.count, by: prefix == "b-" ? 1 : 17) where !isSalt {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            try check(changed)
            try check(Array(bytes[..<index]))
        }
        if !isSalt { try check(bytes + [0]) }
        #expect(wrong == 0)
        try check(nil)
    }

    @Test func `a response that doesn't vary needs no salt`() throws {
        let (text, count, _) = try reply { try FileManager.default.removeItem(atPath: $0 + "/salt") }
        #expect(text == "one" && count == 1)
    }

    @Test func `a stream of a body that has gone, or is cut, is a miss`() async throws {
        for isGone in [true, false] {
            let stub = StubLoader(answer, .response(body: "two"))
            store(cache() --> stub)
            for name in try files("b-") {
                try FileManager.default.removeItem(atPath: path + "/" + name)
                if !isGone { try Data("on".utf8).write(to: URL(filePath: path + "/" + name)) }
            }
            let cache = cache()
            let response = try await (cache --> stub).load(.cacheable().streamed()).get()
            let bytes = try await response.stream?.collect() ?? response.body
            #expect(bytes == Data("two".utf8) && response.source == .network)
            // What was removed is no damage.
            #expect(cache.statistics.damaged == (isGone ? 0 : 1))
            await cache.removeAll().value
        }
    }

    @Test func `when a stale response that stands for an outage is damaged, the outage can be read`() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-if-error=60"]
        let stub = StubLoader(
            .response(headers: headers, body: "one"),
            .response(503) { .pieces("out of order") }
        )
        store(cache() --> stub)
        for name in try files("b-") { try Data("two".utf8).write(to: URL(filePath: path + "/" + name)) }
        clock.advance(by: 2)
        let response = try await (cache() --> stub).load(.cacheable().streamed()).get()
        let body = try await response.stream?.collect()
        #expect(response.status == 503 && body == Data("out of order".utf8))
    }

    @Test func `damage that is found while a stream is read removes the response`() async throws {
        let large = String(repeating: "x", count: 100_000)
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"], body: large), .response(body: "two"))
        store(cache(capacity: 10 << 20) --> stub)
        for name in try files("b-") {
            let file = URL(filePath: path + "/" + name)
            try (Data(contentsOf: file).dropLast() + Data("y".utf8)).write(to: file)
        }
        let cache = cache(capacity: 10 << 20)
        let chain = cache --> stub
        let stream = try #require(try await chain.load(.cacheable().streamed()).get().stream)
        let error = await #expect(throws: (any Error).self) { try await stream.collect() }
        #expect("\(try #require(error))".contains("the stored response is damaged"))
        #expect(try await chain.load(.cacheable()).get().text == "two" && cache.statistics.damaged == 1)
    }

    @Test func `each block of a large body is checked, and its end`() throws {
        let block = Int(DiskBody.blockSize)
        let large = Data(repeating: 7, count: block + 100)
        for (position, isCut) in [(0, false), (block, false), (block, true), (large.count - 1, true)] {
            let stub = StubLoader(
                .response(headers: ["Cache-Control": "max-age=10"], data: large),
                .response(headers: ["Cache-Control": "no-store"], body: "two")
            )
            store(cache(capacity: 10 << 20) --> stub)
            let file = try URL(filePath: path + "/" + #require(files("b-").first))
            var bytes = try Data(contentsOf: file)
            if isCut { bytes = bytes.prefix(position) } else { bytes[position] ^= 1 }
            try bytes.write(to: file)
            let cache = cache(capacity: 10 << 20)
            #expect((cache --> stub).load(.cacheable()).textLater == "two", "\(position), cut: \(isCut)")
            _ = cache.removeAll().wait()
        }
    }

    @Test func `a partition whose name looks the same is another one`() throws {
        let stub = StubLoader(answer, .response(headers: ["Cache-Control": "no-store"], body: "two"))
        let chain = cache() --> stub
        store(chain, .cacheable().inPartition("\u{e9}"))
        // Once more, as it is in memory then.
        #expect(chain.load(.cacheable().inPartition("\u{e9}")).textLater == "one")
        #expect(chain.load(.cacheable().inPartition("e\u{301}")).textLater == "two" && stub.requests.count == 2)
    }

    @Test func `damage is counted`() throws {
        let (text, count, cache) = try reply { path in
            for name in try files("b-") { try Data("twO".utf8).write(to: URL(filePath: path + "/" + name)) }
        }
        #expect(text == "two" && count == 2 && cache.statistics.damaged == 1)
    }

    @Test func `a response that is stored under the name of another URL is a miss`() throws {
        let stub = StubLoader(answer, answer, .response(body: "two"))
        let chain = cache() --> stub
        store(chain, .cacheable(.get, "/a"))
        let first = try #require(files("h-").first)
        store(chain, .cacheable(.get, "/b"))
        let second = try #require(files("h-").first { $0 != first })
        #expect(rename(path + "/" + first, path + "/" + second) == 0)
        #expect(chain.load(.cacheable(.get, "/b")).textLater == "two")
    }

    @Test func `a process that ends between any two calls leaves the old response or the new one`() throws {
        for limit in 0..<60 {
            let path = folder.url.appending(path: "steps\(limit)").path
            let count = Atomic(0)
            let clock = clock
            func load(_ body: String, _ gate: (@Sendable (CacheFolder.Call) -> Bool)? = nil) -> String? {
                let storage = Cache.Storage { now in
                    DiskStore(path, capacity: 1 << 20, now: now, gate: gate)
                }
                let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10", "Vary": "A"], body: body))
                let cache = clock.cache(storage)
                defer { _ = (cache --> stub).load(.cacheable().with(.onlyCached)).statusLater }
                return (cache --> stub).load(.cacheable(.get, "/", ["A": "1"])).textLater
            }
            if limit % 2 == 0 { #expect(load("old") == "old") }
            clock.advance(by: 10)
            // From this call on, the process does nothing more.
            #expect(load("new") { _ in count.wrappingAdd(1, ordering: .relaxed).oldValue < limit } == "new")
            let result = load("newest")
            #expect(result == "new" || result == "newest", "after \(limit) calls: \(result ?? "none")")
            #expect(load("wrong") == result)
        }
    }

    // MARK: - Privacy

    @Test func `only the owner may access the folder and its files, and nothing of a request is readable`() throws {
        let mask = umask(0)
        defer { _ = umask(mask) }
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10", "Vary": "Secret"], body: "one"))
        let request = HTTPRequest.cacheable(
            .get,
            "/",
            ["Authorization": "Bearer abcdef", "Secret": "ghijkl", "Cookie": "mnopqr"]
        )
        let chain = cache() --> stub
        for _ in 0..<2 { #expect(chain.load(request).textLater == "one") }
        #expect(stub.requests.count == 1)
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        for name in try files("") {
            #expect(lstat(path + "/" + name, &status) == 0 && status.st_mode & 0o777 == 0o600, "\(name)")
            let bytes = try Data(contentsOf: URL(filePath: path + "/" + name))
            for secret in ["abcdef", "ghijkl", "mnopqr"] { #expect(bytes.range(of: Data(secret.utf8)) == nil) }
        }
    }

    @Test func `a folder that others may read is closed to them, and a link is refused`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(chmod(path, 0o755) == 0)
        let stub = StubLoader(answer)
        _ = (cache() --> stub).load(.cacheable()).textLater
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        let link = folder.url.appending(path: "link")
        #expect(symlink(path, link.path) == 0)
        let cache = clock.cache(.disk(at: link))
        #expect((cache --> stub).load(.cacheable().with(.onlyCached)).statusLater == 504)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder to somebody else"))
    func `a folder of another user is refused`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        #expect(chown(path, 12_345, 12_345) == 0)
        let stub = StubLoader(answer)
        for _ in 0..<2 { #expect((cache() --> stub).load(.cacheable()).textLater == "one") }
        #expect(try stub.requests.count == 2 && files("").isEmpty)
    }

    @Test func `a file that is a link is not followed`() throws {
        let (text, count, _) = try reply { path in
            let name = try #require(files("b-").first)
            let file = path + "/" + name
            #expect(rename(file, folder.file.path) == 0 && symlink(folder.file.path, file) == 0)
        }
        #expect(text == "two" && count == 2)
    }

    /// As root, the owner of a file can be changed.
    @Test(.enabled(if: geteuid() == 0))
    func `a file of another user is a miss, and a folder of another user stores nothing`() throws {
        let (text, count, _) = try reply { path in
            for name in try files("h-") { #expect(chown(path + "/" + name, 1, 1) == 0) }
        }
        #expect(text == "two" && count == 2)
        #expect(chown(path, 1, 1) == 0)
        let chain = cache() --> StubLoader(answer)
        #expect(store(chain) == "one" && chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
    }

    @Test func `cookies are left out where that is wanted`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10", "Set-Cookie": "a=b"], body: "one"))
        let url = folder.url.appending(path: "cache")
        let chain = clock.cache(.disk(at: url, keeps: .withoutCookies)) --> stub
        #expect(chain.load(.cacheable()).responseLater?.headers["Set-Cookie"] == "a=b")
        let response = chain.load(.cacheable()).responseLater
        #expect(response?.text == "one" && response?.headers["Set-Cookie"] == nil)
        #expect(try !Data(contentsOf: URL(filePath: path + "/" + files("h-")[0])).contains(Data("a=b".utf8)))
    }

    // MARK: - Trouble

    @Test(arguments: [CacheFolder.Call.create, .write, .rename, .open, .read])
    func `a full or broken disk stores nothing, and requests go on`(failing: CacheFolder.Call) throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10"], body: "one"))
        let isBroken = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            let gate: @Sendable (CacheFolder.Call) -> Bool = { call in
                "\(call)" != "\(failing)" || !isBroken.load(ordering: .relaxed)
            }
            return DiskStore(path, capacity: 1 << 20, now: now, gate: gate)
        }
        let chain = clock.cache(storage) --> stub
        isBroken.store(true, ordering: .relaxed)
        for _ in 0..<2 { #expect(chain.load(.cacheable()).textLater == "one") }
        #expect(stub.requests.count == 2)
        isBroken.store(false, ordering: .relaxed)
        for _ in 0..<2 { #expect(chain.load(.cacheable()).textLater == "one") }
    }

    @Test func `a salt that couldn't be written whole is not left behind`() throws {
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { $0 != .write }
        }
        #expect(store(clock.cache(storage) --> StubLoader(answer)) == "one")
        #expect(try files("salt").isEmpty)
    }

    @Test func `what is damaged and can't be removed is a miss each time`() throws {
        let isBroken = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                ![.unlink, .create, .rename].contains(call) || !isBroken.load(ordering: .relaxed)
            }
        }
        let stub = StubLoader(answer, .response(body: "two"))
        store(clock.cache(storage) --> stub)
        for name in try files("b-") { try Data("twO".utf8).write(to: URL(filePath: path + "/" + name)) }
        let chain = clock.cache(storage) --> stub
        isBroken.store(true, ordering: .relaxed)
        for _ in 0..<2 { #expect(chain.load(.cacheable()).textLater == "two") }
        #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
    }

    @Test func `a head that another process puts in the place of a damaged one is not removed`() throws {
        store(cache() --> StubLoader(answer))
        for name in try files("h-") { try Data("damaged".utf8).write(to: URL(filePath: path + "/" + name)) }
        let other = cache()
        let otherChain = other --> StubLoader(.response(headers: ["Cache-Control": "max-age=10"], body: "two"))
        let isReading = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                if call == .read, isReading.exchange(false, ordering: .relaxed) {
                    // The damaged file is open.
                    _ = otherChain.load(.cacheable()).textLater
                    _ = other.flush().wait()
                }
                return true
            }
        }
        let chain = clock.cache(storage) --> StubLoader()
        isReading.store(true, ordering: .relaxed)
        #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
        #expect(chain.load(.cacheable().with(.onlyCached)).textLater == "two")
    }

    @Test func `what can't be removed is gone nevertheless`() async throws {
        let isBroken = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                ![.unlink, .create, .rename].contains(call) || !isBroken.load(ordering: .relaxed)
            }
        }
        let stub = StubLoader { _ in .response(headers: ["Cache-Control": "max-age=10"], body: "one") }
        let cache = clock.cache(storage)
        let chain = cache --> stub
        for removesAll in [true, false] {
            store(chain)
            isBroken.store(true, ordering: .relaxed)
            if removesAll {
                await cache.removeAll().value
            } else {
                cache.remove(try #require(URL(string: "https://example.com/")))
            }
            #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 504)
            isBroken.store(false, ordering: .relaxed)
            store(chain)
            #expect(chain.load(.cacheable().with(.onlyCached)).statusLater == 200)
        }
    }

    @Test func `when the folder can't be listed, nothing of before is used after it was removed`() async throws {
        let isBroken = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 1 << 20, now: now) { call in
                call != .list || !isBroken.load(ordering: .relaxed)
            }
        }
        let stub = StubLoader { _ in .response(headers: ["Cache-Control": "max-age=10", "Vary": "A"], body: "one") }
        let cache = clock.cache(storage)
        let chain = cache --> stub
        for path in ["/a", "/b"] { store(chain, .cacheable(.get, path)) }
        isBroken.store(true, ordering: .relaxed)
        await cache.removeAll().value
        for path in ["/a", "/b"] {
            #expect(chain.load(.cacheable(.get, path).with(.onlyCached)).statusLater == 504)
        }
        // What is stored from now on is used, and brings nothing back that was stored with it.
        store(chain, .cacheable(.get, "/a", ["A": "1"]))
        #expect(chain.load(.cacheable(.get, "/a", ["A": "1"]).with(.onlyCached)).statusLater == 200)
        #expect(chain.load(.cacheable(.get, "/a").with(.onlyCached)).statusLater == 504)
        isBroken.store(false, ordering: .relaxed)
        #expect(chain.load(.cacheable(.get, "/b").with(.onlyCached)).statusLater == 504)
        await cache.removeAll().value
        store(chain, .cacheable(.get, "/b"))
        #expect(chain.load(.cacheable(.get, "/b").with(.onlyCached)).statusLater == 200)
        #expect(try files("h-").count == 1)
    }

    @Test func `a folder that can't be made stores nothing`() throws {
        let stub = StubLoader(answer)
        try folder.write("", to: "file")
        let chain = clock.cache(.disk(at: folder.file.appending(path: "cache"))) --> stub
        for _ in 0..<2 { #expect(chain.load(.cacheable()).textLater == "one") }
        #expect(stub.requests.count == 2)
    }

    @Test func `several caches share a folder`() throws {
        let stub = StubLoader(answering: { request in
            request.method == .get
                ? .response(headers: ["Cache-Control": "max-age=10"], body: request.path) : .response(.noContent)
        })
        let wrong = Lock(0)
        race(4) { thread in
            let cache = cache(capacity: 100_000)
            let chain = cache --> stub
            for round in 0..<60 {
                let path = "/\((round * 7 + thread) % 11)"
                if round % 13 == 12 { _ = chain.load(.cacheable(.put, path)).textLater }
                if chain.load(.cacheable(.get, path)).textLater != path { wrong.withLock { $0 += 1 } }
            }
            _ = chain.load(.cacheable().with(.onlyCached)).textLater
        }
        #expect(wrong.withLock { $0 } == 0)
        #expect(try files("t-").isEmpty)
    }

    @Test func `a cancelled request ends at once, also while the disk is asked`() {
        let gate = DispatchSemaphore(value: 0)
        let isSlow = Atomic(false)
        let path = path
        let storage = Cache.Storage { now in
            let slow: @Sendable (CacheFolder.Call) -> Bool = { _ in
                if isSlow.load(ordering: .relaxed) { gate.wait(); gate.signal() }
                return true
            }
            return DiskStore(path, capacity: 1 << 20, now: now, gate: slow)
        }
        let stub = StubLoader(answer)
        let chain = clock.cache(storage) --> stub
        isSlow.store(true, ordering: .relaxed)
        let task = chain.load(.cacheable())
        task.cancel()
        #expect(task.codeNow == .cancelled)
        gate.signal()
        _ = chain.load(.cacheable()).textLater
        #expect(stub.requests.count == 1)
    }
}

extension HTTPTask {
    /// The response, as soon as there is one. Blocks the thread of the test.
    var responseLater: HTTPResponse? { try? future.wait()?.get() }
    var textLater: String? { responseLater?.text }
    var statusLater: HTTPStatus? { responseLater?.status }
}
