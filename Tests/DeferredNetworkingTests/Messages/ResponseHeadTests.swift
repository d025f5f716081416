import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension ResponseHead {
    /// Creates the head of an HTTP/1.1 response.
    static func made(_ status: Int, _ fields: [String: String] = [:], from url: String = "http://host/") -> ResponseHead
    {
        guard let url = URL(string: url) else { preconditionFailure("\(url) is not a URL") }
        let fields = fields.sorted { $0.key < $1.key }.map { HTTPHeaders.Field(name: $0.key, value: $0.value) }
        return ResponseHead(url: url, status: HTTPStatus(status), headers: HTTPHeaders(fields))
    }
}

@Suite("Response head", .ownThread, .timeLimit(.minutes(1)))
struct ResponseHeadTests {
    private let url = URL(string: "http://host/") ?? URL(filePath: "/")

    private func head(_ fields: [(String, String)]) -> ResponseHead {
        ResponseHead(url: url, status: 200, headers: HTTPHeaders(fields.map { .init(name: $0, value: $1) }))
    }

    @Test func `fields keep their order and number, and a look-up joins those of one name`() {
        let head = head([("Set-Cookie", "a=1"), ("b", "2"), ("set-cookie", "c=3"), ("B", "4")])
        #expect(head.headers.map(\.name) == ["Set-Cookie", "b", "set-cookie", "B"])
        #expect(head.value(of: "B") == "2, 4")
        #expect(head.value(of: "SET-COOKIE") == "a=1, c=3")
        #expect(head.value(of: "A") == nil)
    }

    @Test func `Foundation's object has one field a name`() {
        let head = head([("A", "1"), ("a", "2"), ("Content-Length", "3"), ("A", "4"), ("", "5")])
        let response = head.httpURLResponse
        #expect(response.statusCode == 200 && response.url == url && response.expectedContentLength == 3)
        #expect(response.value(forHTTPHeaderField: "a") == "1, 2, 4")
        #expect(response.allHeaderFields.count == 2)
        #expect(head.urlResponse == response)
    }

    @Test func `many fields of one name are joined in order, in linear time`() throws {
        let head = head((0..<10_000).map { ("\($0 % 2 == 0 ? "X" : "x")-\($0 % 100)", "\($0)") })
        let value = try #require(head.value(of: "x-7"))
        #expect(value.hasPrefix("7, 107, 207") && value.hasSuffix(", 9907"))
        #expect(head.httpURLResponse.value(forHTTPHeaderField: "X-7") == value)
    }

    @Test func `the platform's object is passed on, and its fields are sorted by name`() throws {
        let fields = ["B": "1", "A": "2", "C": "3"]
        let made = HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: fields)
        let response = try #require(made)
        let head = ResponseHead(response)
        #expect(head.status == 404 && head.isHTTP && head.value(of: "b") == "1")
        #expect(head.headers.map { $0.name + $0.value } == ["A2", "B1", "C3"])
        #expect(head.httpURLResponse === response && head.urlResponse === response)
    }

    @Test func `a response that isn't HTTP has no status and no fields`() throws {
        let response = URLResponse(url: url, mimeType: nil, expectedContentLength: 5, textEncodingName: nil)
        let head = ResponseHead(platform: response)
        #expect(!head.isHTTP && head.headers.isEmpty && head.value(of: "A") == nil)
        #expect(head.urlResponse === response)
        do throws(URLError) {
            Issue.record("\(try head.requiringHTTP())")
        } catch {
            #expect(error.code == .badServerResponse && error.failingURL == url)
        }
    }

    @Test func `heads with the same contents are equal, and show no credentials`() throws {
        let secret = head([("Set-Cookie", "a=secret"), ("B", "1")])
        let (same, other) = (
            head([("set-cookie", "a=secret"), ("b", "1")]), head([("B", "1"), ("Set-Cookie", "a=secret")])
        )
        #expect(secret == same && secret.hashValue == same.hashValue && secret != other)
        #expect(Set([secret, same, other]).count == 2)
        let url = try #require(URL(string: "http://user:secret@host/"))
        let named = ResponseHead(url: url, status: 404, headers: secret.headers)
        var dumped = ""
        dump(named, to: &dumped)
        #expect(!"\(named)\(String(reflecting: named))\(dumped)".contains("secret"))
        #expect("\(named)".hasPrefix("404 Not Found"))
        let field = HTTPHeaders.Field(name: "Location", value: "https://user:secret@app/cb?code=secret&x=1")
        #expect(field.description == "Location: https://…@app/cb?code=…&x=1")
        dump(URLClient.Authentication.digest(user: "me", password: "secret"), to: &dumped)
        #expect(!dumped.contains("secret"))
    }
}
