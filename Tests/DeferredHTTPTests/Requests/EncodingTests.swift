import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct EncodingTests {
    private struct Search: Encodable {
        var text = "a b&"
        var page: Int?
        var size = 20
        var isExact = true
        var labels = ["x", "y"]
        var factor = 0.5
    }

    @Test func `the properties of a value become a query or a form`() throws {
        var request = HTTPRequest(host: "host", query: [.init(name: "own", value: "1")])
        try request.addQuery(Search())
        let query = "factor=0.5&isExact=true&labels=x&labels=y&size=20&text=a%20b%26"
        #expect(request.percentEncodedQuery == "own=1&" + query)
        guard case .data(let form)? = try HTTPBody.form(encoding: Search()).pieces.first else { return }
        #expect(String(decoding: form, as: UTF8.self) == query.replacingOccurrences(of: "%20", with: "+"))
    }

    @Test func `what is no list of simple values is refused`() {
        struct Nested: Encodable { let inner = ["a": ["b": 1]] }
        var request = HTTPRequest.example
        #expect(throws: EncodingError.self) { try request.addQuery(Nested()) }
        #expect(throws: EncodingError.self) { try request.addQuery([1, 2]) }
        #expect(request.query.isEmpty)
    }

    @Test func `a body of another type is not accepted`() throws {
        func code(_ type: String?, _ body: String = "x") -> HTTPError.Code? {
            let headers = type.map { ["Content-Type": $0] as HTTPHeaders } ?? [:]
            let chain = Validate(types: ["application/JSON"]) --> StubLoader(.response(headers: headers, body: body))
            return chain.load(.example).codeNow
        }
        #expect(code("application/json; charset=utf-8") == nil && code("Application/Json") == nil)
        #expect(code("text/html") == .invalidResponse && code(nil) == .invalidResponse && code(nil, "") == nil)
        let stub = StubLoader(.response(headers: ["Content-Type": "text/html"], body: "x"))
        let chain = Validate(types: ["b/c", "a/b"]) --> stub
        guard case .failure(let error) = try #require(chain.load(.example).peek()) else { return }
        #expect(error.reason?.hasPrefix(#"the body has the type "text/html" instead of a/b or b/c; "#) == true)
    }

    @Test func `a request as a command line has no secrets, and no shell reads more than one command`() throws {
        let url = try #require(URL(string: "https://me:hunter2@host/a'b?token=hunter2&x=$(ls)"))
        var request = HTTPRequest(.post, url: url, headers: ["Authorization": "Bearer hunter2", "X-A": "`b`"])
        request.body = .text(#"{"password": "hunter2", "name": "O'Neill; rm"}"#, contentType: "application/json")
        let command = request.curlCommand
        #expect(!command.contains("hunter2"))
        #expect(
            command == #"""
                curl -X POST 'https://…@host/a'\''b?token=…&x=$(ls)' -H 'Authorization: …' -H 'X-A: `b`' \#
                -H 'Content-Type: application/json' --data-raw '{"password": "…", "name": "O'\''Neill; rm"}'
                """#
        )
        #expect(HTTPRequest(host: "host", path: "/").curlCommand == "curl https://host/")
        #expect(HTTPRequest(.head, host: "host", path: "/").curlCommand == "curl --head https://host/")
        request.body = .file(URL(filePath: "/tmp/a b"))
        #expect(request.curlCommand.hasSuffix("--data-binary '@/tmp/a b'"))
    }
}
