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

    /// Those of Alamofire's documentation of its encoder, whose default is `brackets`.
    @Test(
        arguments: [
            (.flat, "foo=bar&foo=baz"), (.brackets, "foo[]=bar&foo[]=baz"), (.indexedBrackets, "foo[0]=bar&foo[1]=baz"),
        ] as [(FormNesting, String)]
    )
    func `arrays have brackets where the server wants them`(nesting: FormNesting, expected: String) throws {
        var request = HTTPRequest.example
        try request.addQuery(["foo": ["bar", "baz"]], nesting: nesting)
        #expect(request.percentEncodedQuery == expected.replacing("[", with: "%5B").replacing("]", with: "%5D"))
        let form = try HTTPBody.form(encoding: ["foo": ["bar", "baz"]], nesting: nesting)
        #expect(form.pieces == [.data(Data(try #require(request.percentEncodedQuery).utf8))])
    }

    @Test func `objects within objects have brackets`() throws {
        struct User: Encodable {
            struct Address: Encodable { var city = "Ulm", lines = ["a", "b"] }
            var address = Address()
            var none: Int?
            var friends = [["name": "Bo"], ["name": "Cy"]]
            var isNew = true
        }
        for (nesting, expected) in [
            (
                .brackets,
                "user[address][city]=Ulm&user[address][lines][]=a&user[address][lines][]=b&user[friends][][name]=Bo"
                    + "&user[friends][][name]=Cy&user[isNew]=true"
            ),
            (
                .indexedBrackets,
                "user[address][city]=Ulm&user[address][lines][0]=a&user[address][lines][1]=b&user[friends][0][name]=Bo"
                    + "&user[friends][1][name]=Cy&user[isNew]=true"
            ),
        ] as [(FormNesting, String)] {
            var request = HTTPRequest.example
            try request.addQuery(["user": User()], nesting: nesting)
            #expect(request.percentEncodedQuery?.removingPercentEncoding == expected)
        }
        #expect(throws: EncodingError.self) { try HTTPBody.form(encoding: ["a": [["b"]]]) }
        #expect(throws: EncodingError.self) { try HTTPBody.form(encoding: ["a": [["b": 1]]]) }
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
        for method in [HTTPMethod.get, .head] {
            var search = HTTPRequest(method, host: "host", path: "/")
            search.body = .text("a", contentType: nil)
            #expect(search.curlCommand == "curl -X \(method.rawValue) https://host/ --data-raw a")
        }
        request.body = .file(URL(filePath: "/tmp/a b"))
        #expect(request.curlCommand.hasSuffix("--data-binary '@/tmp/a b'"))
    }
}
