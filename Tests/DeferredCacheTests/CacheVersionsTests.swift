import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Several versions of a resource, of which the newest that the server has told about counts.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheVersionsTests {
    private let clock = CacheTestClock()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func caches() -> [Cache] {
        [clock.cache(), clock.cache(.disk(at: folder.url.appending(path: UUID().uuidString)))]
    }

    private func response(_ version: Int, _ directives: String = "max-age=100", vary: String? = nil)
        -> StubLoader.Answer
    {
        var headers: HTTPHeaders = ["Cache-Control": directives, "ETag": "\"\(version)\""]
        headers["Vary"] = vary
        return .response(headers: headers, body: "\(version)")
    }

    private let german: HTTPHeaders = ["Accept-Language": "de"]

    /// Stores a version that varies, and then one that doesn't, both fresh.
    private func storeTwo(_ chain: some HTTPLoader, second headers: HTTPHeaders) {
        _ = chain.load(.cacheable(.get, "/", german)).textLater
        clock.advance(by: 1)
        #expect(chain.load(.cacheable(.get, "/", headers).with(.reload)).textLater == "2")
        clock.advance(by: 1)
    }

    @Test(arguments: ["de", "fr"])
    func `a HEAD that shows a third version brings no older one back`(language: String) {
        for cache in caches() {
            let stub = StubLoader(
                response(1, vary: "Accept-Language"),
                response(2),
                .response(headers: ["ETag": "\"3\""]),
                response(3)
            )
            let chain = cache --> stub
            storeTwo(chain, second: ["Accept-Language": language])
            _ = chain.load(.cacheable(.head, "/", ["Accept-Language": language]).with(.reload)).statusLater
            #expect(chain.load(.cacheable(.get, "/", german)).textLater == "3")
        }
    }

    @Test func `a range past the end that is answered with a third version brings no older one back`() {
        for cache in caches() {
            let stub = StubLoader(response(1, vary: "Accept-Language"), response(2), response(3), response(3))
            let chain = cache --> stub
            storeTwo(chain, second: german)
            var range = german
            range["Range"] = "bytes=100-"
            #expect(chain.load(.cacheable(.get, "/", range)).textLater == "3")
            #expect(chain.load(.cacheable(.get, "/", german)).textLater == "3" && stub.requests.count == 4)
        }
    }

    @Test(arguments: [("Range", "bytes=100-", 416), ("If-Match", "\"0\"", 412)])
    func `a range or a condition that the server refuses says nothing to other requests`(
        name: String,
        value: String,
        status: Int
    ) {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=99", "ETag": "\"1\""]
        let refusal = StubLoader.Answer.response(HTTPStatus(status), headers: headers)
        for cache in caches() {
            let stub = StubLoader(refusal, response(1), refusal)
            let chain = cache --> stub
            let refused = HTTPRequest.cacheable(.get, "/", [name: value])
            #expect(chain.load(refused).statusLater?.code == status)
            #expect(chain.load(.cacheable()).textLater == "1")
            #expect(chain.load(refused).statusLater?.code == status)
            #expect(chain.load(.cacheable()).textLater == "1" && stub.requests.count == 3)
        }
    }

    @Test func `a validation that brings something else brings no older version back`() {
        for cache in caches() {
            let stub = StubLoader(
                response(1, vary: "Accept-Language"),
                response(2),
                response(3, "no-store"),
                response(4)
            )
            let chain = cache --> stub
            storeTwo(chain, second: german)
            #expect(chain.load(.cacheable(.get, "/", german).with(.validate)).textLater == "3")
            #expect(chain.load(.cacheable(.get, "/", german)).textLater == "4")
        }
    }

    /// The second version is a user's that depends on less than the first, or on something else, and is then confirmed.
    @Test(arguments: [nil, "X"])
    func `no older version of a user's comes back when the newer one that the user has seen is gone`(vary: String?) {
        let user: HTTPHeaders = ["Authorization": "bob"]
        var german = german
        german["Authorization"] = "bob"
        for cache in caches() {
            let stub = StubLoader(
                response(1, vary: "Accept-Language"),
                response(2, vary: vary),
                .response(.notModified, headers: ["ETag": "\"2\"", "Cache-Control": "max-age=100"]),
                response(3, "no-store")
            )
            let chain = cache --> stub
            #expect(chain.load(.cacheable(.get, "/", user)).textLater == "1")
            clock.advance(by: 1)
            #expect(chain.load(.cacheable(.get, "/", german)).textLater == "2")
            clock.advance(by: 1)
            #expect(chain.load(.cacheable(.get, "/", user).with(.validate)).textLater == "2")
            #expect(chain.load(.cacheable(.get, "/", german).with(.reload)).textLater == "3")
            #expect(chain.load(.cacheable(.get, "/", user).with(.anyAge)).statusLater == 504)
            #expect(stub.requests.count == 4)
        }
    }

    @Test func `users keep their own versions when there is one for nobody`() {
        for cache in caches() {
            let stub = StubLoader(response(1), response(2), response(3))
            let chain = cache --> stub
            let own = HTTPRequest.cacheable(.get, "/", ["Authorization": "a"])
            #expect(chain.load(own).textLater == "1")
            #expect(chain.load(.cacheable()).textLater == "2")
            #expect(chain.load(own).textLater == "1" && chain.load(.cacheable()).textLater == "2")
        }
    }

    @Test func `a range that is answered with the whole of what is stored removes nothing`() {
        for tag in ["\"1\"", "W/\"1\""] {
            for cache in caches() {
                let stub = StubLoader(
                    .response(headers: ["Cache-Control": "max-age=100", "ETag": tag], body: "1"),
                    .response(headers: ["Cache-Control": "max-age=200", "ETag": tag], body: "1"),
                    .response(body: "other")
                )
                let chain = cache --> stub
                #expect(chain.load(.cacheable()).textLater == "1")
                #expect(chain.load(.cacheable(.get, "/", ["Range": "bytes=100-"])).textLater == "1")
                clock.advance(by: 50)
                #expect(chain.load(.cacheable()).textLater == "1" && stub.requests.count == 2)
            }
        }
    }

    @Test func `a HEAD without validators doesn't renew a body that has one`() {
        for field in ["ETag": "\"1\"", "Last-Modified": "Tue, 14 Nov 2023 22:13:20 GMT"] {
            for cache in caches() {
                let stub = StubLoader(
                    .response(headers: ["Cache-Control": "max-age=10", field.key: field.value], body: "1"),
                    .response(headers: ["Cache-Control": "max-age=1000"]),
                    response(2)
                )
                let chain = cache --> stub
                #expect(chain.load(.cacheable()).textLater == "1")
                _ = chain.load(.cacheable(.head).with(.reload)).statusLater
                clock.advance(by: 11)
                #expect(chain.load(.cacheable()).textLater == "2")
            }
        }
    }

    @Test func `a 304 that must not be stored removes what it was about`() {
        for condition in [nil, "\"1\""] {
            for cache in caches() {
                let notModified = StubLoader.Answer.response(
                    .notModified,
                    headers: ["ETag": "\"1\"", "Cache-Control": "no-store"]
                )
                let stub = StubLoader(response(1, "max-age=1"), notModified)
                let chain = cache --> stub
                #expect(chain.load(.cacheable()).textLater == "1")
                clock.advance(by: 2)
                var request = HTTPRequest.cacheable()
                request.headers["If-None-Match"] = condition
                let response = chain.load(request).responseLater
                #expect(condition == nil ? response?.text == "1" : response?.status == .notModified)
                #expect(chain.load(.cacheable().with(.anyAge)).statusLater == 504)
            }
        }
    }

    @Test func `the rest of a part that must not be stored is not stored with it`() {
        for cache in caches() {
            let part: HTTPHeaders = ["Cache-Control": "max-age=9", "ETag": "\"1\"", "Content-Range": "bytes 0-3/10"]
            let rest: HTTPHeaders = ["Cache-Control": "no-store", "ETag": "\"1\"", "Content-Range": "bytes 4-9/10"]
            let stub = StubLoader(
                .response(206, headers: part, body: "0123"),
                .response(206, headers: rest, body: "456789"),
                .response(headers: ["Cache-Control": "no-store"], body: "0123456789")
            )
            let chain = cache --> stub
            #expect(chain.load(.cacheable(.get, "/", ["Range": "bytes=0-3"])).textLater == "0123")
            #expect(chain.load(.cacheable()).textLater == "0123456789")
            #expect(chain.load(.cacheable().with(.anyAge)).statusLater == 504)
        }
    }

    @Test func `what is renewed in the background is the whole, whatever part was asked for`() throws {
        for headers in [["Range": "bytes=0-0"], ["If-None-Match": "\"9\""], ["If-Modified-Since": "now"]]
            as [HTTPHeaders]
        {
            let stub = StubLoader()
            let chain = clock.cache() --> stub
            chain.load(.cacheable())
            stub.tasksInFlight[0].succeed(
                .ok,
                headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60", "ETag": "\"1\""],
                body: Data("one".utf8)
            )
            clock.advance(by: 2)
            let response = chain.load(.cacheable(.get, "/", headers)).responseNow
            #expect(response?.text == (headers["Range"] == nil ? "one" : "o"))
            #expect(stub.requests[1].headers.fields.map(\.name) == ["If-None-Match"])
            #expect(stub.requests[1].headers["If-None-Match"] == "\"1\"")
            stub.tasksInFlight[0].succeed(
                .ok,
                headers: ["Cache-Control": "max-age=10", "ETag": "\"2\""],
                body: Data("two".utf8)
            )
            #expect(chain.load(.cacheable()).textNow == "two" && stub.requests.count == 2)
        }
    }
}
