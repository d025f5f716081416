import DeferredCache
import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FollowRedirectsTests {
    private func redirect(_ status: HTTPStatus, _ location: String) -> StubLoader.Answer {
        .response(status, headers: ["Location": location])
    }

    @Test func `a redirect is followed, relative and absolute`() {
        let stub = StubLoader(redirect(302, "../b?c"), redirect(301, "https://other.org/d"), .response(body: "end"))
        let task = (FollowRedirects() --> stub).load(HTTPRequest(host: "example.com", path: "/a/x/y"))
        #expect(task.textNow == "end")
        #expect(
            stub.requests.map { $0.url?.absoluteString } == [
                "https://example.com/a/x/y", "https://example.com/a/b?c", "https://other.org/d",
            ]
        )
    }

    @Test(arguments: OddLocation.all)
    func `a Location is resolved, and only what is illegal is encoded`(location: OddLocation) async throws {
        for (loader, isLibcurl) in zip(URLSessionLoader.each, [false, true]) where location.isUTF8 || isLibcurl {
            let server = try LoopbackServer { request in
                request.number == 1
                    ? .raw(.bytes(location.response(host: request.headers["Host"] ?? ""))) : .response(200)
            }
            defer { server.stop() }
            let response = try await (FollowRedirects() --> loader).load(HTTPRequest(url: server.url("/t/base?q=1")))
                .get()
            #expect(response.status == (location.target == nil ? 302 : 200))
            #expect(server.requests.dropFirst().map(\.target) == (location.target.map { [$0] } ?? []))
        }
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
        (301, "PUT", "PUT"), (307, "POST", "POST"), (308, "POST", "POST"), (302, "GET", "GET"),
    ])
    func `methods and bodies change as in a client`(status: Int, method: String, expected: String) {
        let stub = StubLoader(redirect(HTTPStatus(status), "/b"), .response())
        var request = HTTPRequest.cacheable(HTTPMethod(rawValue: method), "/", ["Content-Language": "de", "A": "1"])
        request.body = .text("body")
        (FollowRedirects() --> stub).load(request)
        let second = stub.requests[1]
        #expect(second.method.rawValue == expected && second.headers["A"] == "1")
        let keeps = expected == method
        #expect(second.body.isEmpty != keeps && (second.headers["Content-Language"] != nil) == keeps)
    }

    @Test func `a body that can be sent once is not sent to the target of a redirect`() throws {
        let stub = StubLoader(redirect(307, "/b"), .response())
        let body = HTTPBody.stream(AsyncStream<Data> { $0.finish() })
        let request = HTTPRequest(.put, host: "example.com", path: "/a", body: body)
        guard case .failure(let error) = try #require((FollowRedirects() --> stub).load(request).peek()) else { return }
        #expect(error.code == .bodyAlreadySent && error.response?.status == 307 && stub.requests.count == 1)
    }

    @Test func `secrets don't cross origins`() {
        for (location, keeps) in [("/b", true), ("https://other.org/", false), ("https://example.com:444/", false)] {
            let stub = StubLoader(redirect(302, location), .response())
            let request = HTTPRequest.cacheable(
                .get,
                "/",
                ["Authorization": "a", "Cookie": "b", "Host": "c", "D": "e"]
            )
            (FollowRedirects() --> stub).load(request)
            let headers = stub.requests[1].headers
            #expect(headers["D"] == "e" && (headers["Authorization"] != nil) == keeps)
            #expect((headers["Cookie"] != nil) == keeps && (headers["Host"] != nil) == keeps)
        }
    }

    @Test(arguments: ["https://other.org/b", "/b"])
    func `an environment's fields stay at home`(location: String) {
        let environment = HTTPEnvironment(host: "example.com", headers: ["X-Plan": "gold"])
        let bearer = BearerAuthentication(token: "t") { _ in .success("t") }
        for isFirst in [true, false] {
            let stub = StubLoader(redirect(302, location), .response())
            let chain: any HTTPLoader =
                isFirst
                ? ApplyEnvironment(environment) --> bearer --> FollowRedirects() --> stub
                : FollowRedirects() --> ApplyEnvironment(environment) --> bearer --> stub
            #expect(chain.load(HTTPRequest(path: "/a")).statusNow == .ok)
            let isHome = stub.requests[1].host == "example.com"
            #expect(stub.requests.map { $0.headers["X-Plan"] } == ["gold", isHome ? "gold" : nil])
            #expect(stub.requests.map { $0.headers["Authorization"] } == ["Bearer t", isHome ? "Bearer t" : nil])
        }
    }

    @Test func `a redirect that a later loader refuses is followed`() {
        let stub = StubLoader(redirect(302, "/b"), .response(404), .response(404))
        let task = (FollowRedirects() --> Validate() --> stub).load(.cacheable())
        #expect(task.codeNow == .unacceptableStatus && stub.requests.map(\.path) == ["/", "/b"])
    }

    @Test func `what can't be followed is the response`() {
        for answer in [
            .response(302), redirect(302, "mailto:a@b"), redirect(304, "/b"), redirect(300, "/b"), redirect(200, "/b"),
        ] {
            let stub = StubLoader(answer)
            #expect((FollowRedirects() --> stub).load(.cacheable()).statusNow != nil && stub.requests.count == 1)
        }
    }

    @Test func `a loop ends at the limit`() {
        let stub = StubLoader(redirect(302, "/"))
        #expect((FollowRedirects(atMost: 3) --> stub).load(.cacheable()).codeNow == .tooManyRedirects)
        #expect(stub.requests.count == 4)
    }

    @Test func `cancelling cancels the request under way`() {
        let stub = StubLoader(redirect(302, "/"), .pending)
        let task = (FollowRedirects() --> stub).load(.cacheable())
        task.cancel()
        #expect(task.codeNow == .cancelled && stub.tasksInFlight.isEmpty)
    }

    @Test func `a cache stores redirects under their own URLs`() {
        let stub = StubLoader(
            .response(301, headers: ["Location": "/b", "Cache-Control": "max-age=60"]),
            .response(headers: ["Cache-Control": "max-age=60"], body: "b")
        )
        let chain = FollowRedirects() --> Cache(.memory()) --> stub
        #expect(chain.load(.cacheable()).textNow == "b" && chain.load(.cacheable()).textNow == "b")
        #expect(chain.load(.cacheable(.get, "/b")).textNow == "b" && stub.requests.count == 2)
    }

    @Test func `the client below follows none`() async throws {
        let server = try LoopbackServer { request in
            request.path == "/" ? .redirect(to: "/b") : .response(body: "b")
        }
        defer { server.stop() }
        let seen = Journal<HTTPStatus>()
        let log = Log.events { if case .response(let status) = $0.kind { seen.add(status) } }
        let chain = FollowRedirects() --> log --> URLSessionLoader()
        let response = try await chain.load(HTTPRequest(url: server.url("/"))).get()
        #expect(response.text == "b" && seen.entries == [302, 200])
    }
}
