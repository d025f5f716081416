import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheTests {
    private let clock = CacheTestClock()

    @Test func `a fresh response is used again, with its age`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10", "A": "1"], body: "one"), .response())
        let cache = clock.cache()
        let chain = cache --> stub
        #expect(chain.load(.cacheable()).responseNow?.source == .network)
        clock.advance(by: 9)
        let response = try #require(chain.load(.cacheable()).responseNow)
        #expect(response.text == "one" && response.headers["A"] == "1" && response.headers["Age"] == "9")
        #expect(response.source == .cache(age: .seconds(9), isStale: false))
        #expect(response.url == HTTPRequest.cacheable().url && stub.requests.count == 1)
        let statistics = cache.statistics
        #expect(statistics.hits == 1 && statistics.misses == 1 && statistics.stored == 1 && statistics.bytes > 3)
        clock.advance(by: 1)
        #expect(chain.load(.cacheable()).textNow == "" && stub.requests.count == 2)
    }

    @Test func `a field that no server can send is not stored, and changes no other`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=10", "A": "1\n2", "B": "3"], body: "one"))
        let chain = clock.cache() --> stub
        for _ in 0..<2 {
            let response = try #require(chain.load(.cacheable()).responseNow)
            #expect(response.source == .network && response.headers["A"] == "1\n2" && response.headers["B"] == "3")
        }
    }

    @Test func `a stale response is validated, and its fields are renewed`() throws {
        let stub = StubLoader(
            .response(
                headers: ["ETag": "\"a\"", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT", "A": "1"],
                body: "one"
            ),
            .response(.notModified, headers: ["ETag": "\"a\"", "A": "2", "Cache-Control": "max-age=5"]),
            .response(body: "two")
        )
        let cache = clock.cache()
        let chain = cache --> stub
        chain.load(.cacheable())
        clock.advance(by: 1)
        let response = try #require(chain.load(.cacheable()).responseNow)
        #expect(response.text == "one" && response.headers["A"] == "2" && response.status == .ok)
        #expect(response.source == .validated(age: .zero))
        #expect(stub.requests[1].headers["If-None-Match"] == "\"a\"")
        #expect(stub.requests[1].headers["If-Modified-Since"] == "Tue, 14 Nov 2023 22:13:20 GMT")
        clock.advance(by: 4)
        #expect(chain.load(.cacheable()).responseNow?.source == .cache(age: .seconds(4), isStale: false))
        clock.advance(by: 1)
        #expect(chain.load(.cacheable()).textNow == "two")
        #expect(cache.statistics.validated == 1 && cache.statistics.hits == 1 && cache.statistics.misses == 2)
    }

    @Test func `of several responses that a request may get, the newest counts`() {
        let stub = StubLoader(
            .response(headers: ["Cache-Control": "max-age=10", "Vary": "A"], body: "one"),
            .response(headers: ["Cache-Control": "max-age=10"], body: "two")
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable(.get, "/", ["A": "1"]))
        clock.advance(by: 1)
        #expect(chain.load(.cacheable(.get, "/", ["A": "2"])).textNow == "two")
        #expect(chain.load(.cacheable(.get, "/", ["A": "1"])).textNow == "two" && stub.requests.count == 2)
    }

    @Test func `a 304 that is about another response has the request sent without conditions`() {
        let stub = StubLoader(
            .response(headers: ["ETag": "\"a\""], body: "one"),
            .response(.notModified, headers: ["ETag": "\"b\""]),
            .response(headers: ["ETag": "\"b\""], body: "two")
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        #expect(chain.load(.cacheable()).textNow == "two")
        #expect(stub.requests.count == 3 && stub.requests[2].headers["If-None-Match"] == nil)
    }

    @Test func `the client's own condition is answered, or passed on as it is`() throws {
        let stub = StubLoader(
            .response(
                headers: ["ETag": "\"a\"", "Cache-Control": "max-age=10", "Content-Type": "text/plain"],
                body: "one"
            ),
            .response(.notModified, headers: ["ETag": "\"b\""])
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        let request = HTTPRequest.cacheable(.get, "/", ["If-None-Match": "\"a\""])
        let response = try #require(chain.load(request).responseNow)
        #expect(response.status == .notModified && response.body.isEmpty && response.headers["ETag"] == "\"a\"")
        #expect(response.headers["Content-Type"] == nil)
        clock.advance(by: 10)
        let other = HTTPRequest.cacheable(.get, "/", ["If-None-Match": "\"b\""])
        #expect(chain.load(other).statusNow == .notModified)
        #expect(stub.requests[1].headers.values(for: "If-None-Match") == ["\"b\""])
    }

    @Test func `policies`() {
        let stub = StubLoader(
            .response(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=10"], body: "one"),
            .response(.notModified),
            .response(body: "two")
        )
        let cache = clock.cache()
        let chain = cache --> stub
        #expect(chain.load(.cacheable().with(.onlyCached)).statusNow == 504 && stub.requests.isEmpty)
        chain.load(.cacheable())
        #expect(chain.load(.cacheable().with(.onlyCached)).textNow == "one")
        #expect(chain.load(.cacheable().with(.validate)).responseNow?.source == .validated(age: .zero))
        #expect(stub.requests[1].headers["Cache-Control"] == "max-age=0")
        clock.advance(by: 100)
        #expect(chain.load(.cacheable().with(.onlyCached)).statusNow == 504)
        let old = chain.load(.cacheable().with(.anyAge)).responseNow
        #expect(old?.text == "one" && old?.source == .cache(age: .seconds(100), isStale: true))
        #expect(stub.requests.count == 2)
        #expect(chain.load(.cacheable().with(.bypass)).textNow == "two")
        #expect(stub.requests[2].headers["Cache-Control"] == "no-store")
        #expect(stub.requests[2].headers["If-None-Match"] == nil)
        #expect(chain.load(.cacheable().with(.anyAge)).textNow == "one", "nothing was stored")
        #expect(cache.statistics.bypassed == 1)
    }

    @Test func `a reload asks the server in any case`() {
        let stub = StubLoader(
            .response(headers: ["ETag": "\"a\"", "Cache-Control": "max-age=10, immutable"], body: "one"),
            .response(headers: ["ETag": "\"b\"", "Cache-Control": "max-age=10"], body: "two")
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        #expect(chain.load(.cacheable().with(.validate)).textNow == "one", "immutable")
        #expect(chain.load(.cacheable().with(.reload)).textNow == "two")
        #expect(stub.requests[1].headers["Cache-Control"] == "no-cache")
        #expect(chain.load(.cacheable()).textNow == "two")
    }

    @Test func `partitions, hosts, paths, queries and schemes are apart`() {
        let stub = StubLoader(answering: { .response(headers: ["Cache-Control": "max-age=9"], body: "\($0.id)") })
        let chain = clock.cache() --> stub
        var requests = [HTTPRequest.cacheable(), .cacheable(.get, "/a"), .cacheable().inPartition("a")]
        for text in ["http://example.com/", "http://example.com/?user=alice", "http://example.com/?user=bob"] {
            requests += URL(string: text).map { [HTTPRequest(url: $0)] } ?? []
        }
        let first = requests.map { chain.load($0).textNow }
        let second = requests.map { chain.load($0).textNow }
        #expect(first == second && Set(first).count == 6 && stub.requests.count == 6)
    }

    @Test func `variants are kept beside each other, and users are apart`() {
        let stub = StubLoader(answering: { request in
            let body = request.headers["Accept-Language"] ?? request.headers["Authorization"] ?? ""
            return .response(headers: ["Cache-Control": "max-age=9", "Vary": "Accept-Language"], body: body)
        })
        let chain = clock.cache() --> stub
        for _ in 0..<2 {
            #expect(chain.load(.cacheable(.get, "/", ["Accept-Language": "de"])).textNow == "de")
            #expect(chain.load(.cacheable(.get, "/", ["Accept-Language": "en"])).textNow == "en")
            #expect(chain.load(.cacheable(.get, "/", ["Authorization": "alice"])).textNow == "alice")
            #expect(chain.load(.cacheable(.get, "/", ["Authorization": "bob"])).textNow == "bob")
            #expect(chain.load(.cacheable()).textNow == "")
        }
        #expect(stub.requests.count == 5)
    }

    @Test func `no user, language or partition gets what is another one's`() throws {
        let folder = try TemporaryDirectory()
        let values = [
            ("Authorization", ["Bearer a", "Bearer b"]), ("Accept-Language", ["de", "en, de;q=0.5"]), ("X", ["1"]),
        ]
        let variations = [nil, "Accept-Language", "X, Accept-Language", "Authorization"]
        /// What the server has for a request: all that a response may depend on.
        @Sendable func contents(_ request: HTTPRequest) -> String {
            let varied = variations[Int(request.path.dropFirst()) ?? 0] ?? ""
            let isPublic = varied == "Authorization"
            let names = ["Authorization", "Accept-Language", "X"].filter { name in
                varied.contains(name) || name == "Authorization" && !isPublic
            }
            let fields = names.map { request.headers[$0] ?? "none" }
            return ([request.cachePartition ?? "", request.path] + fields).joined(separator: "|")
        }
        for cache in [clock.cache(), clock.cache(.disk(at: folder.url.appending(path: "cache")))] {
            let stub = StubLoader(answering: { request in
                var headers: HTTPHeaders = ["Cache-Control": "max-age=10"]
                headers["Vary"] = variations[Int(request.path.dropFirst()) ?? 0]
                if headers["Vary"] == "Authorization" { headers["Cache-Control"] = "public, max-age=10" }
                return .response(headers: headers, body: contents(request))
            })
            let chain = cache --> stub
            var generator = SeededGenerator(seed: 5)
            for _ in 0..<600 {
                var request = HTTPRequest.cacheable(.get, "/\(Int.random(in: 0..<4, using: &generator))")
                for (name, values) in values where Bool.random(using: &generator) {
                    request.headers[name] = values.randomElement(using: &generator)
                }
                if Int.random(in: 0..<4, using: &generator) == 0 { request.cachePartition = "other" }
                #expect(chain.load(request).textLater == contents(request))
                if Int.random(in: 0..<50, using: &generator) == 0 { clock.advance(by: 11) }
            }
            #expect(cache.statistics.hits > 200)
        }
    }

    @Test func `a POST's response that stands for a GET is stored, in any form of delivery`() async throws {
        for isStreamed in [false, true] {
            let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Content-Location": "/"]
            let stub = StubLoader(
                isStreamed ? .response(headers: headers) { .pieces("one") } : .response(headers: headers, body: "one"),
                .response(body: "two")
            )
            let chain = clock.cache() --> stub
            let request = HTTPRequest.cacheable(.post)
            let response = try await chain.load(isStreamed ? request.streamed() : request).get()
            let body = try await response.stream?.collect() ?? response.body
            #expect(body == Data("one".utf8))
            #expect(try await chain.load(.cacheable()).get().text == "one" && stub.requests.count == 1)
        }
    }

    @Test(
        arguments: [
            (.cannotConnect, "one"), (.invalidRequest, "one"), (.unacceptableStatus, "one"), (.bodyAlreadySent, "two"),
            (.connectionLost, "two"), (.timedOut, "two"), (.cancelled, "two"),
        ] as [(HTTPError.Code, String)]
    )
    func `a change that fails may have been made, unless the server can't have got it or has refused it`(
        code: HTTPError.Code,
        text: String
    ) {
        let fresh: HTTPHeaders = ["Cache-Control": "max-age=10"]
        let stub = StubLoader(.response(headers: fresh, body: "one"), .failure(code), .response(body: "two"))
        let chain = clock.cache() --> stub
        #expect(chain.load(.cacheable()).textNow == "one")
        #expect(chain.load(.cacheable(.put)).codeNow == code)
        #expect(chain.load(.cacheable()).textNow == text)
    }

    @Test func `credentials below the cache don't mix users`() {
        let stub = StubLoader(answering: { request in
            .response(headers: ["Cache-Control": "max-age=9"], body: request.headers["Authorization"] ?? "")
        })
        let cache = clock.cache()
        let alice = cache --> BasicAuthentication(user: "alice", password: "a", hosts: ["example.com"]) --> stub
        let bob = cache --> BasicAuthentication(user: "bob", password: "b", hosts: ["example.com"]) --> stub
        #expect(alice.load(.cacheable()).textNow != bob.load(.cacheable()).textNow)
        let plain = cache --> stub
        #expect(plain.load(.cacheable()).textNow == "")
    }

    @Test(arguments: ["Authorization", "Host"])
    func `what a server confirms for a loader below the cache changes nothing for others`(name: String) {
        let stub = StubLoader(answering: { request in
            let user = request.headers[name] ?? "nobody"
            let headers: HTTPHeaders = ["Cache-Control": "max-age=1", "ETag": "\"1\"", "Set-Cookie": "user=\(user)"]
            return request.headers["If-None-Match"] == nil
                ? .response(headers: headers, body: user) : .response(304, headers: headers)
        })
        let cache = clock.cache()
        let plain = cache --> stub
        let alice = cache --> ModifyRequest { $0.headers[name] = "alice" } --> stub
        #expect(plain.load(.cacheable()).textNow == "nobody")
        clock.advance(by: 2)
        // Asked anew, since the confirmation is of another one's response.
        #expect(alice.load(.cacheable()).textNow == "alice")
        #expect(stub.requests.map { $0.headers["If-None-Match"] != nil } == [false, true, false])
        var offline = HTTPRequest.cacheable()
        offline.cachePolicy = .anyAge
        let left = plain.load(offline).responseNow
        #expect(left?.text != "alice" && left?.headers["Set-Cookie"] != "user=alice")
        #expect(plain.load(.cacheable()).textNow == "nobody")
    }

    /// Answers with ten letters, or a part of them, which tell who has asked.
    private static func letters(for request: HTTPRequest) -> StubLoader.Answer {
        let letter = request.headers["Authorization"] ?? "n"
        var headers: HTTPHeaders = ["ETag": "\"a\"", "Cache-Control": "max-age=9"]
        guard let range = request.headers["Range"] else {
            return .response(headers: headers, body: String(repeating: letter, count: 10))
        }
        headers["Content-Range"] = range == "bytes=0-3" ? "bytes 0-3/10" : "bytes 4-9/10"
        return .response(206, headers: headers, body: String(repeating: letter, count: range == "bytes=0-3" ? 4 : 6))
    }

    @Test func `the rest of a response for a loader below the cache isn't that of another's beginning`() {
        let stub = StubLoader(answering: { Self.letters(for: $0) })
        let cache = clock.cache()
        let plain = cache --> stub
        let alice = cache --> ModifyRequest { $0.headers["Authorization"] = "a" } --> stub
        #expect(plain.load(.cacheable(.get, "/", ["Range": "bytes=0-3"])).textNow == "nnnn")
        #expect(alice.load(.cacheable()).textNow == "aaaaaaaaaa")
        #expect(plain.load(.cacheable()).textNow == "nnnnnnnnnn")
    }

    @Test func `a HEAD is answered from a GET`() throws {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=9", "Content-Length": "3"], body: "one"))
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        let response = try #require(chain.load(.cacheable(.head)).responseNow)
        #expect(response.body.isEmpty && response.headers["Content-Length"] == "3" && stub.requests.count == 1)
    }

    @Test func `ranges are cut out of what is there, and the rest of a part is fetched`() throws {
        let stub = StubLoader(
            .response(
                206,
                headers: ["ETag": "\"a\"", "Content-Range": "bytes 0-3/10", "Cache-Control": "max-age=9"],
                body: "0123"
            ),
            .response(206, headers: ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], body: "456789")
        )
        let chain = clock.cache() --> stub
        #expect(chain.load(.cacheable(.get, "/", ["Range": "bytes=0-3"])).textNow == "0123")
        #expect(chain.load(.cacheable(.get, "/", ["Range": "bytes=1-2"])).textNow == "12")
        let whole = try #require(chain.load(.cacheable()).responseNow)
        #expect(whole.text == "0123456789" && whole.status == .ok && whole.headers["Content-Range"] == nil)
        #expect(stub.requests[1].headers["Range"] == "bytes=4-" && stub.requests[1].headers["If-Range"] == "\"a\"")
        let part = try #require(chain.load(.cacheable(.get, "/", ["Range": "bytes=-2"])).responseNow)
        #expect(part.text == "89" && part.status == 206 && part.headers["Content-Range"] == "bytes 8-9/10")
        #expect(part.headers["Content-Length"] == "2" && stub.requests.count == 2)
    }

    @Test(
        arguments: [
            .response(.notModified, headers: ["ETag": "\"a\""]),
            .response(headers: ["ETag": "\"a\"", "Content-Range": "bytes 4-9/10"], body: "456789"),
            .failure(.invalidResponse),
        ] as [StubLoader.Answer]
    )
    func `what makes no sense as the rest of a part is no answer to a request for all`(answer: StubLoader.Answer) throws
    {
        let stub = StubLoader(
            .response(
                206,
                headers: ["ETag": "\"a\"", "Content-Range": "bytes 0-3/10", "Cache-Control": "max-age=9"],
                body: "0123"
            ),
            answer,
            .response(headers: ["Cache-Control": "max-age=9"], body: "abcdefghij")
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable(.get, "/", ["Range": "bytes=0-3"]))
        for _ in 1...2 {
            let response = try #require(chain.load(.cacheable()).responseNow)
            #expect(response.status == .ok && response.text == "abcdefghij" && stub.requests.count == 3)
        }
        #expect(stub.requests[1].headers["Range"] == "bytes=4-" && stub.requests[2].headers["Range"] == nil)
    }

    @Test func `a body shorter than announced is not stored`() {
        let stub = StubLoader(
            .response(headers: ["Cache-Control": "max-age=9", "Content-Length": "4"], body: "one"),
            .response(headers: ["Cache-Control": "max-age=9", "Content-Length": "3"], body: "two")
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        #expect(chain.load(.cacheable()).textNow == "two")
        #expect(chain.load(.cacheable()).textNow == "two" && stub.requests.count == 2)
    }

    @Test func `requests in other forms of delivery are answered from memory`() async throws {
        let folder = try TemporaryDirectory()
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=9"], body: "one"))
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        let streamed = try #require(chain.load(.cacheable().streamed()).responseNow?.stream)
        #expect(try await streamed.collect() == Data("one".utf8))
        var request = HTTPRequest.cacheable()
        request.delivery = .file(folder.file)
        let file = try #require(chain.load(request).responseNow?.file)
        #expect(try Data(contentsOf: file) == Data("one".utf8) && stub.requests.count == 1)
    }

    @Test func `a stale response stands for an outage where the server allows it`() {
        let allowed: HTTPHeaders = ["Cache-Control": "max-age=1, stale-if-error=60"]
        let outages: [StubLoader.Answer] = [
            .response(503), .response(500), .failure(.timedOut), .failure(.cannotConnect),
        ]
        for answer in outages {
            let stub = StubLoader(.response(headers: allowed, body: "one"), answer)
            let cache = clock.cache()
            let chain = cache --> stub
            chain.load(.cacheable())
            clock.advance(by: 2)
            let response = chain.load(.cacheable()).responseNow
            #expect(response?.text == "one" && response?.source == .cache(age: .seconds(2), isStale: true))
            #expect(cache.statistics.stale == 1)
        }
        for answer in [.response(404), .failure(.insecureConnection), .failure(.cancelled)] as [StubLoader.Answer] {
            let stub = StubLoader(.response(headers: allowed, body: "one"), answer)
            let chain = clock.cache() --> stub
            chain.load(.cacheable())
            clock.advance(by: 2)
            #expect(chain.load(.cacheable()).textNow != "one")
        }
    }

    @Test func `a stale response stands for an outage where the cache was told so`() {
        for (header, expected) in [("max-age=1", "one"), ("max-age=1, must-revalidate", nil)] {
            let stub = StubLoader(.response(headers: ["Cache-Control": header], body: "one"), .failure(.timedOut))
            let chain = clock.cache(servesStaleOnError: true) --> stub
            chain.load(.cacheable())
            clock.advance(by: 2)
            #expect(chain.load(.cacheable()).textNow == expected)
        }
    }

    @Test func `a wall clock that goes back makes nothing younger`() {
        let stub = StubLoader(
            .response(headers: ["Cache-Control": "max-age=10", "ETag": "\"a\""], body: "one"),
            .response(.notModified)
        )
        let chain = clock.cache() --> stub
        chain.load(.cacheable())
        clock.setWall(by: -3_600)
        #expect(chain.load(.cacheable()).responseNow?.source == .validated(age: .zero))
    }

    @Test func `clocks beyond all numbers do no harm`() {
        let stub = StubLoader { _ in .response(headers: ["Cache-Control": "max-age=10"], body: "one") }
        let wall = Lock(Date())
        let clock = ManualClock()
        let chain = Cache(.memory(), now: { wall.withLock { $0 } }, clock: clock) --> stub
        for seconds in [0, .infinity, -.infinity, .nan, 1e300, -1e300, .greatestFiniteMagnitude] {
            wall.withLock { $0 = Date(timeIntervalSince1970: seconds) }
            for _ in 0..<2 { #expect(chain.load(.cacheable()).textNow == "one") }
            clock.advance(by: .seconds(Int64.max / 64))
            for _ in 0..<2 { #expect(chain.load(.cacheable()).textNow == "one") }
        }
    }

    @Test func `a request without a host, and one with another method, pass by`() {
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=9"]))
        let cache = clock.cache()
        let chain = cache --> stub
        for _ in 0..<2 {
            chain.load(HTTPRequest(path: "/"))
            chain.load(.cacheable(.options))
        }
        #expect(stub.requests.count == 4 && cache.statistics.bypassed == 4)
    }

    @Test func `without a next loader, a request fails`() {
        #expect(clock.cache().load(.cacheable()).codeNow == .cannotConnect)
    }

    @Test func `a cancelled request is not sent`() {
        let stub = StubLoader()
        let task = HTTPTask(.cacheable())
        task.cancel()
        (clock.cache() --> stub).load(task)
        #expect(task.codeNow == .cancelled && stub.requests.isEmpty)
    }

    @Test func `after the end nothing is kept`() {
        let lifetimes = Lifetimes()
        let stub = StubLoader(.response(headers: ["Cache-Control": "max-age=9"]))
        let chain = clock.cache() --> stub
        for _ in 0..<2 {
            chain.load(.cacheable()).addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
        }
        weak var task: HTTPTask?
        do {
            let own = HTTPTask(.cacheable())
            task = own
            chain.load(own)
        }
        #expect(lifetimes.count == 0 && task == nil)
    }
}
