import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct PagesTests {
    private func links(_ field: String) -> [ResponseHead.Link] {
        let request = HTTPRequest(host: "host", path: "/a/b")
        return HTTPResponse(request: request, status: .ok, headers: ["Link": field]).links
    }

    @Test func `links are read as RFC 8288 says`() {
        let found = links(
            #"</x?a=1,2>; rel="next Last"; title="a \"b\", c;d", <y>;REL=prev;rel=other , <z>, <w>; anchor="/q"; rel=next"#
        )
        #expect(found.map(\.url.absoluteString) == ["https://host/x?a=1,2", "https://host/a/y"])
        #expect(found.map(\.relations) == [["next", "last"], ["prev"]])
        #expect(found.map(\.parameters) == [["title": #"a "b", c;d"#], [:]])
        #expect(links(#"<a>; rel="next"#).isEmpty)
        for field in ["", "<", "<>", "x", "<a", "<a>;;;rel=next;", ",,<a>;rel"] { _ = links(field) }
    }

    @Test func `a link is resolved, and only its illegal characters are encoded`() {
        let found = links("<?q=50%&r=a%20b>;rel=next, <../c d|%7C#e%20f>;rel=prev")
        #expect(
            found.map(\.url.absoluteString) == ["https://host/a/b?q=50%25&r=a%20b", "https://host/c%20d%7C%7C#e%20f"]
        )
    }

    @Test func `pages are followed with the headers and the credentials of the first`() async throws {
        let stub = StubLoader { request in
            guard request.headers["Authorization"] == "Bearer t", request.headers["X-Tenant"] == "e",
                request.headers["X-Own"] == "o"
            else { return .response(401) }
            return request.path == "/v2/list" && request.query.isEmpty
                ? .response(headers: ["Link": "<https://API.example.com/v2/list?page=2>; rel=\"next\""], body: "1")
                : .response(body: "2")
        }
        let environment = HTTPEnvironment(host: "api.example.com", pathPrefix: "/v2", headers: ["X-Tenant": "e"])
        for chain in [
            BearerAuthentication(token: "t") { _ in .never } --> ApplyEnvironment(environment) --> stub,
            ApplyEnvironment(environment) --> BearerAuthentication(token: "t") { _ in .never } --> stub,
        ] as [any HTTPLoader] {
            var pages: [String] = []
            for try await page in chain.pages(of: HTTPRequest(path: "/list", headers: ["X-Own": "o"])) {
                pages.append(page.text)
            }
            #expect(pages == ["1", "2"])
        }
        #expect(
            stub.requests.map { $0.url?.absoluteString.lowercased() }.suffix(2) == [
                "https://api.example.com/v2/list", "https://api.example.com/v2/list?page=2",
            ]
        )
    }

    @Test func `a page at another origin is not followed`() async throws {
        let stub = StubLoader(.response(headers: ["Link": "<https://evil.example/>; rel=next"], body: "1"))
        var iterator = stub.pages(of: .example).makeAsyncIterator()
        #expect(try await iterator.next()?.text == "1")
        let error = await #expect(throws: HTTPError.self) { _ = try await iterator.next() }
        #expect(error?.code == .foreignPage && stub.requests.count == 1)
        #expect(error?.reason?.contains(#"another origin, "https://evil.example/""#) == true)
        #expect(error?.response?.links.map(\.url.host) == ["evil.example"])
        #expect(try await iterator.next() == nil)
    }

    /// Answers as a client does that has followed a redirect to another server by itself.
    private struct Redirected: HTTPLoader {
        let requests = Journal<HTTPRequest>()

        func load(_ task: HTTPTask) {
            requests.add(task.request)
            task.succeed(.ok, headers: ["Link": "</2>; rel=next"], url: URL(string: "https://evil.example/1"))
        }
    }

    @Test func `a page of a server to which a redirect has led is not followed`() async throws {
        let environment = ApplyEnvironment(HTTPEnvironment(host: "api.example.com", headers: ["X-Tenant": "e"]))
        let own = HTTPRequest(host: "api.example.com", path: "/1", headers: ["Authorization": "Bearer o"])
        for request in [HTTPRequest(path: "/1"), own] {
            let client = Redirected()
            let stub = StubLoader { request in
                request.host == "evil.example"
                    ? .response(headers: ["Link": "</2>; rel=next"])
                    : .response(302, headers: ["Location": "https://evil.example/1"])
            }
            let chains: [any HTTPLoader] = [
                environment --> client,
                environment --> FollowRedirects() --> stub,
                FollowRedirects() --> environment --> stub,
            ]
            for chain in chains {
                var iterator = chain.pages(of: request).makeAsyncIterator()
                #expect(try await iterator.next()?.status == .ok)
                let error = await #expect(throws: HTTPError.self) { _ = try await iterator.next() }
                #expect(error?.code == .foreignPage)
            }
            #expect(client.requests.entries.count == 1 && stub.requests.count == 4)
        }
    }

    @Test func `headers of an environment go to no other server`() {
        let stub = StubLoader(.response())
        let inner = ApplyEnvironment(HTTPEnvironment(host: "inner", headers: ["X-Inner": "i"]))
        let outer = ApplyEnvironment(HTTPEnvironment(host: "outer", headers: ["X-Outer": "o"]))
        (outer --> inner --> stub).load(HTTPRequest(path: "/"))
        #expect(stub.requests.map { $0.headers.map(\.name) } == [["X-Outer"]])
    }

    @Test func `a server says when to come again`() {
        func pause(_ headers: HTTPHeaders) -> Duration? {
            HTTPResponse(request: .example, status: 429, headers: headers).retryAfter
        }
        let date = "Thu, 01 Jan 2026 00:00:00 GMT"
        #expect(pause(["Retry-After": "7", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"]) == .seconds(7))
        #expect(pause(["Retry-After": "Thu, 01 Jan 2026 00:00:05 GMT", "Date": date]) == .seconds(5))
        #expect(pause(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "9"]) == .seconds(9))
        #expect(pause(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1767225660", "Date": date]) == .seconds(60))
        #expect(pause(["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "9"]) == nil)
        #expect(pause(["RateLimit": #""default";r=0;t=30"#]) == .seconds(30))
        #expect(pause(["RateLimit": "limit=100, remaining=0, reset=31"]) == .seconds(31))
        #expect(pause(["RateLimit": #""default";r=5;t=30"#]) == nil)
        #expect(pause(["RateLimit-Remaining": "0", "RateLimit-Reset": "32"]) == .seconds(32))
        #expect(pause(["Retry-After": "soon"]) == nil && pause([:]) == nil)
    }

    @Test func `a number of seconds that is too large is a long pause`() {
        func pause(_ headers: HTTPHeaders) -> Duration? {
            HTTPResponse(request: .example, status: 429, headers: headers).retryAfter
        }
        let (most, longest) = ("\(Int64.max)", Duration.seconds(4_294_967_296))
        let date = "Mon, 01 Jan 1900 00:00:00 GMT"
        #expect(pause(["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": most, "Date": date]) == longest)
        #expect(pause(["RateLimit-Remaining": "0", "RateLimit-Reset": most]) == longest)
        #expect(pause(["RateLimit": "\"a\";r=0;t=" + most]) == longest)
    }

    @Test(
        arguments: [
            (#""burst";r=0;t=10, "daily";r=500;t=3600"#, 10), (#""a";r=0;t=10, "b,c";r=0;t=60, "d";r=0;t=20"#, 60),
            (#""a";r=1;t=10, "b";r=2;t=60"#, nil), ("limit=100, remaining=0, reset=30", 30),
            ("limit=100;w=60, remaining=0, reset=30", 30),
        ] as [(String, Int?)]
    )
    func `of several policies, those that are used up count`(field: String, seconds: Int?) {
        let response = HTTPResponse(request: .example, status: 429, headers: ["RateLimit": field])
        #expect(response.retryAfter == seconds.map { Duration.seconds($0) })
    }

    @Test func `strategies are combined`() {
        let (busy, quota) = (HTTPStatus.serviceUnavailable, HTTPStatus.forbidden)
        let strategy = RetryStrategy.backoff(attempts: 2, random: { 0 }).or(
            .custom { $0.response?.status == quota ? $0.response?.retryAfter : nil }
        )
        func pause(_ number: Int, _ status: HTTPStatus) -> Duration? {
            let response = HTTPResponse(request: .example, status: status, headers: ["Retry-After": "3"])
            return strategy.pause(.init(number: number, request: .example, result: .success(response)))
        }
        #expect(pause(1, busy) == .seconds(3) && pause(2, busy) == nil)
        #expect(pause(9, quota) == .seconds(3) && pause(1, .ok) == nil)
    }
}
