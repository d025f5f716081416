import DeferredHTTP
import DeferredNetworking
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPRedactionTests {
    @Test(arguments: [
        "X-Auth-Key", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Access-Key", "X-Passphrase", "X-Private-Key",
        "X-API-Key", "Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-Amz-Security-Token",
        "X-Session-Id", "X-Hub-Signature-256",
    ])
    func `a header that looks like a credential is not shown`(name: String) {
        let request = HTTPRequest(host: "host", headers: [name: "hush"])
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!"\(request.headers)".contains("hush") && !dumped.contains("hush"))
    }

    @Test func `a secret in settings and errors is not shown`() throws {
        let client = OAuth.Client(id: "app", secret: "hush", token: try #require(URL(string: "https://host/token")))
        var configuration = URLClient.Configuration()
        configuration.headers = ["X-Api-Key": "hush", "X-Odd": "odd"]
        let error = URLClientError(.shutDown, url: URL(string: "http://user:hush@host/"))
        for value in [client, OAuth(client, over: URLSessionLoader()), configuration, error] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            #expect(!"\(value)".contains("hush") && !dumped.contains("hush"), "\(value)")
        }
        #expect("\(client)".contains("app") && "\(configuration)".contains("X-Odd: odd"))
        #expect(configuration.headers == ["X-Api-Key": "hush", "X-Odd": "odd"])
    }

    @Test(arguments: [
        "access_key", "private_key", "subscription-key", "passphrase", "pass", "assertion", "client_assertion", "token",
        "X-Amz-Signature", "X-Amz-Credential", "code", "sig", "PWD",
    ])
    func `a query item that looks like a credential is not shown`(name: String) {
        let request = HTTPRequest(host: "host", path: "/", query: [.init(name: name, value: "hush")])
        let environment = HTTPEnvironment(host: "host", query: [.init(name: name, value: "hush")])
        var dumped = ""
        dump(environment, to: &dumped)
        #expect(!"\(request)".contains("hush") && !"\(environment)".contains("hush") && !dumped.contains("hush"))
    }

    @Test(arguments: [
        ("next=https%3A%2F%2Fhost%2F%3Ftoken%3Dhush&page=7", "next=…&page=7"), ("a=1;token=hush", "a=…"),
        ("next=/?a=b", "next=/?a=b"), ("a=1;b=2", "a=1;b=2"), ("a=%zz", "a=%zz"),
    ])
    func `a secret within the value of a query item is not shown`(query: String, shown: String) {
        #expect(Redaction.query(query) == shown)
    }

    @Test func `other things are shown`() {
        let request = HTTPRequest(host: "host", path: "/", query: [.init(name: "page", value: "7")])
        #expect("\(request)" == "GET https://host/?page=7")
        #expect("\(HTTPHeaders(dictionaryLiteral: ("Accept", "text/html")))".contains("text/html"))
    }

    @Test func `names can be added`() {
        let request = HTTPRequest(host: "host", path: "/", query: [.init(name: "X-Deferred-Test-Pin", value: "1234")])
        #expect("\(request)".contains("1234"))
        Redaction.add(names: ["x-deferred-test-PIN"])
        #expect(!"\(request)".contains("1234"))
    }

    @Test(arguments: [
        ("token = 'hush' x", "token = '…' x"), ("=token=hush", "=token=…"), ("a==b&key=hush", "a==b&key=…"),
        ("'pass' : hush)", "'pass' : …)"), ("token=", "token=…"), ("a b: c", "a b: c"), ("é_key=hush", "é_key=…"),
        ("token\n:\nBearer hush;x", "token\n:\n…;x"), ("a:token:hush", "a:token:…"),
    ])
    func `in a text, names are found before the delimiters of values`(text: String, shown: String) {
        #expect(Redaction.text(text) == shown)
    }

    @Test func `a long text is read once`() {
        let long = String(repeating: "aZ09-_", count: 50_000)
        let (text, shown) = (#"{"data": "\#(long)", "token": "hush"}"#, #"{"data": "\#(long)", "token": "…"}"#)
        #expect(Redaction.text(text).hasBytes(of: shown))
    }

    @Test func `user and password inside a host are not shown`() throws {
        let request = HTTPRequest(host: "me:hush@host", path: "/")
        var dumped = ""
        dump(HTTPEnvironment(host: "me:hush@host"), to: &dumped)
        #expect(!"\(request)".contains("hush") && "\(request)".contains("host/") && !dumped.contains("hush"))
        let error = #expect(throws: URLClientError.self) { try request.check() }
        #expect(!"\(try #require(error))".contains("hush"))
    }

    @Test(arguments: ["\n", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{0B}"])
    func `nothing in a request breaks a line of a log`(lineBreak: String) {
        let forged = "x\(lineBreak)GET https://forged/: 200 OK"
        let requests = [
            HTTPRequest(.init(rawValue: forged), host: "host"), HTTPRequest(host: forged),
            HTTPRequest(scheme: forged, host: "host"), HTTPRequest(host: "host", path: forged),
        ]
        for request in requests {
            let error = HTTPError(.timedOut, request: request)
            #expect(!"\(request)".contains(lineBreak) && !"\(error)".contains(lineBreak))
        }
        #expect(!"\(HTTPHeaders.Field(name: forged, value: "1"))".contains(lineBreak))
        #expect(!"\(HTTPHeaders.Field(name: "X", value: forged))".contains(lineBreak))
    }
}
