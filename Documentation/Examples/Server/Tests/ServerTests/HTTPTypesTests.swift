import Deferred
import Foundation
import HTTPTypes
import Testing

@testable import Server

@Suite(.timeLimit(.minutes(1)))
struct HTTPTypesTests {
    @Test func `a request is the same there and back`() throws {
        let url = try #require(URL(string: "https://host:8443/a%2Fb/?q=a%20b"))
        let headers: HTTPHeaders = ["Accept": "a", "X-Two": "1", "x-two": "2"]
        let request = DeferredHTTP.HTTPRequest("PURGE", url: url, headers: headers)
        let there = try request.httpTypes
        #expect(there.authority == "host:8443" && there.path == "/a%2Fb/?q=a%20b")
        let back = DeferredHTTP.HTTPRequest(there)
        #expect(back?.url == url && back?.method == "PURGE")
        #expect(back?.headers.map(\.value) == ["a", "1", "2"])
    }

    @Test func `what can't be sent is no request`() {
        let request = DeferredHTTP.HTTPRequest(.init(method: .get, scheme: nil, authority: nil, path: "/a"))
        #expect(request == nil)
        #expect(throws: URLClientError.self) { try DeferredHTTP.HTTPRequest(path: "/a").httpTypes }
    }

    @Test func `a response is the same there and back`() {
        let request = DeferredHTTP.HTTPRequest(host: "host")
        let cookies = HTTPHeaders(["a=1", "b=2"].map { .init(name: "Set-Cookie", value: $0) })
        let there = DeferredHTTP.HTTPResponse(request: request, status: 299, headers: cookies).httpTypes
        let back = DeferredHTTP.HTTPResponse(there, to: request, body: Data("x".utf8))
        #expect(back.status == 299 && back.headers == cookies && back.text == "x")
    }
}
