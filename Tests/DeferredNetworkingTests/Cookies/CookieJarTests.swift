import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CookieJarTests {
    private let storage: HTTPCookieStorage
    private let jar: CookieJar
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws {
        storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        jar = CookieJar(storage)
    }

    private func store(_ fields: String..., from url: String, _ jar: CookieJar? = nil, for page: String? = nil) throws {
        try store(from: url, fields, jar, for: page)
    }

    private func store(from url: String, _ fields: [String], _ jar: CookieJar? = nil, for page: String? = nil) throws {
        let url = try #require(URL(string: url))
        let headers = HTTPHeaders(fields.map { .init(name: "set-cookie", value: $0) })
        let head = ResponseHead(url: url, status: 200, headers: headers)
        (jar ?? self.jar).store(head, mainDocument: page.flatMap { URL(string: $0) }, now: now)
    }

    @Test func `of a response with very many, the first are stored`() throws {
        try store(from: "http://h.example/", (0..<400).map { "c\($0)=v" })
        #expect(storage.cookies?.count == 180 && storage.cookies?.contains { $0.name == "c179" } == true)
    }

    @Test func `an interim response sets none`() throws {
        let url = try #require(URL(string: "http://h.example/"))
        for (status, expected) in [(103, nil), (200, "a=1")] as [(HTTPStatus, String?)] {
            jar.store(ResponseHead(url: url, status: status, headers: ["Set-Cookie": "a=1"]), now: now)
            #expect(jar.header(for: url, now: now) == expected)
        }
    }

    private func header(_ url: String, after seconds: TimeInterval = 0) throws -> String? {
        jar.header(for: try #require(URL(string: url)), now: now + seconds)
    }

    @Test(
        arguments: [
            // What is sent, to where, of what was set from where.
            ("a=1", "http://h.example/x", "http://h.example/y", "a=1"),
            ("a=1", "http://h.example/x", "http://other.example/y", nil),
            ("a=1", "http://h.example/x", "http://sub.h.example/y", nil),
            ("a=1", "http://H.example/x", "https://h.EXAMPLE:8443/", "a=1"),
            (" a = 1 2 ; nonsense; =; X=y", "http://h.example/", "http://h.example/", "a=1 2"),
            ("a=", "http://h.example/", "http://h.example/", "a="),
            ("a=\"b=c\"", "http://h.example/", "http://h.example/", "a=\"b=c\""),
            ("=1", "http://h.example/", "http://h.example/", nil),
            ("a", "http://h.example/", "http://h.example/", nil),
            ("a=1\u{1}", "http://h.example/", "http://h.example/", nil),
            // Domain
            ("a=1; Domain=h.example", "http://h.example/", "http://sub.h.example/", "a=1"),
            ("a=1; domain=.H.example", "http://sub.h.example/", "http://h.example/", "a=1"),
            ("a=1; Domain=h.example", "http://h.example/", "http://evilh.example/", nil),
            ("a=1; Domain=sub.h.example", "http://h.example/", "http://sub.h.example/", nil),
            ("a=1; Domain=other.example", "http://h.example/", "http://other.example/", nil),
            ("a=1; Domain=example", "http://h.example/", "http://h.example/", nil),
            ("a=1; Domain=", "http://h.example/", "http://sub.h.example/", nil),
            ("a=1; Domain=", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Domain=localhost", "http://localhost/", "http://localhost/", "a=1"),
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", "a=1"),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", nil),
            ("a=1", "http://[::1]/", "http://[::1]/", "a=1"),
            // Path
            ("a=1; Path=/other", "http://h.example/", "http://h.example/echo", nil),
            ("a=1; Path=/other", "http://h.example/", "http://h.example/other", "a=1"),
            ("a=1; Path=/other", "http://h.example/", "http://h.example/other/x?y", "a=1"),
            ("a=1; Path=/other", "http://h.example/", "http://h.example/otherwise", nil),
            ("a=1; Path=/other/", "http://h.example/", "http://h.example/other", nil),
            ("a=1; Path=other", "http://h.example/x/y", "http://h.example/x/z", "a=1"),
            ("a=1", "http://h.example/x/y", "http://h.example/x", "a=1"),
            ("a=1", "http://h.example/x/y", "http://h.example/", nil),
            ("a=1", "http://h.example", "http://h.example/any", "a=1"),
            // Secure
            ("a=1; Secure", "https://h.example/", "http://h.example/", nil),
            ("a=1; Secure", "https://h.example/", "https://h.example/", "a=1"),
            ("a=1; Secure", "http://h.example/", "https://h.example/", nil),
            // Prefixes
            ("__Secure-a=1; Secure", "https://h.example/", "https://h.example/", "__Secure-a=1"),
            ("__Secure-a=1", "https://h.example/", "https://h.example/", nil),
            ("__secure-a=1", "http://h.example/", "http://h.example/", nil),
            ("__Host-a=1; Secure; Path=/", "https://h.example/x/", "https://h.example/", "__Host-a=1"),
            ("__Host-a=1; Secure; Path=/; Domain=", "https://h.example/", "https://h.example/", "__Host-a=1"),
            ("__Host-a=1; Secure", "https://h.example/", "https://h.example/", nil),
            ("__Host-a=1; Path=/", "https://h.example/", "https://h.example/", nil),
            ("__HOST-a=1; Secure; Path=/; Domain=h.example", "https://sub.h.example/", "https://h.example/", nil),
            ("__Host-a=1; Path=/; Domain=h.example", "http://sub.h.example/", "https://h.example/", nil),
            // Ends
            ("a=1; Max-Age=0", "http://h.example/", "http://h.example/", nil),
            ("a=1; Max-Age=-5", "http://h.example/", "http://h.example/", nil),
            ("a=1; Max-Age=x", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Max-Age=99999999999999999999", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Max-Age=0; Max-Age=5", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://h.example/", "http://h.example/", nil),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=5", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Max-Age=0; Expires=Fri, 01-Jan-2100 00:00:00 GMT", "http://h.example/", "http://h.example/", nil),
            ("a=1; Expires=nonsense", "http://h.example/", "http://h.example/", "a=1"),
            ("a=1; Expires=Thu, 01 Jan 1970 000:00:00 GMT", "http://h.example/", "http://h.example/", "a=1"),
        ] as [(String, String, String, String?)]
    )
    func `a cookie is stored and sent by its attributes`(
        field: String,
        source: String,
        target: String,
        expected: String?
    ) throws {
        try store(field, from: source)
        #expect(try header(target) == expected)
    }

    @Test func `a cookie that has ended replaces and removes the one that was stored`() throws {
        try store("a=1; Max-Age=60", "b=2", from: "http://h.example/")
        #expect(try header("http://h.example/") == "a=1; b=2")
        #expect(try header("http://h.example/", after: 59) == "a=1; b=2")
        #expect(try header("http://h.example/", after: 60) == "b=2")
        try store("b=; Max-Age=0", from: "http://h.example/")
        #expect(try header("http://h.example/") == "a=1")
        #expect(storage.cookies?.map(\.name) == ["a"])
    }

    @Test func `a longer path comes first, and a cookie of another path is another cookie`() throws {
        try store("a=root; Path=/", "a=deep; Path=/x/y", "b=mid; Path=/x", from: "http://h.example/")
        #expect(try header("http://h.example/x/y/z") == "a=deep; b=mid; a=root")
    }

    @Test func `without TLS, no cookie takes the place of a secure one`() throws {
        try store("a=1; Secure", from: "https://h.example/")
        try store("a=2", from: "http://h.example/")
        #expect(try header("http://h.example/") == nil)
        #expect(try header("https://h.example/") == "a=1")
        try store("a=3", from: "https://h.example/")
        #expect(try header("http://h.example/") == "a=3")
    }

    @Test func `a secure cookie that has expired is in nobody's way`() throws {
        try store("a=1; Secure; Max-Age=60", from: "https://h.example/")
        let url = try #require(URL(string: "http://h.example/"))
        jar.store(ResponseHead(url: url, status: 200, headers: ["Set-Cookie": "a=2"]), now: now + 61)
        #expect(try header("http://h.example/", after: 62) == "a=2")
    }

    @Test(arguments: ["http://example.com/", "http://foo.example.com/", "http://www.login.example.com/"])
    func `without TLS, no cookie is sent beside a secure one`(source: String) throws {
        let domain = source.contains("login") ? "" : "; Domain=Example.com"
        try store("sid=good; Secure", from: "https://login.example.com/")
        try store("sid=evil" + domain, "other=1" + domain, from: source)
        #expect(try header("https://login.example.com/")?.contains("evil") == false)
        #expect(storage.cookies?.contains { $0.value == "evil" } == false)
        #expect(storage.cookies?.contains { $0.name == "other" } == true)
        // A neighbour is no part of the domain.
        try store("sid=own", from: "http://ogin.example.com/")
        #expect(try header("http://ogin.example.com/")?.contains("sid=own") == true)
    }

    @Test func `the policy decides what is stored, and what is stored is sent`() throws {
        try store("a=1", from: "http://h.example/", CookieJar(storage, policy: .never))
        let first = CookieJar(storage, policy: .onlyFromMainDocumentDomain)
        try store("b=1", from: "http://ads.example/", first, for: "http://h.example/")
        try store("c=1", from: "http://h.example/", first, for: "http://www.h.example/")
        try store("d=1", from: "http://h.example/", first)
        #expect(Set((storage.cookies ?? []).map(\.name)) == ["c", "d"])
        storage.cookieAcceptPolicy = .never
        try store("e=1", from: "http://h.example/")
        #expect(try header("http://h.example/") == "c=1; d=1")
        let silent = CookieJar(storage, isSending: false)
        let request = try CheckedRequest(URLRequest(url: #require(URL(string: "http://h.example/"))))
        #expect(silent.adding(to: request).value(of: "Cookie") == nil)
        #expect(jar.adding(to: request).value(of: "Cookie") == "c=1; d=1")
        #expect(jar.adding(to: request.setting("x=y", for: "cookie")).value(of: "Cookie") == "x=y")
    }

    @Test(
        arguments: [
            ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894), ("Wed, 09-Jun-2021 10:18:14 GMT", 1_623_233_894),
            ("Wednesday, 09-Jun-21 10:18:14 GMT", 1_623_233_894), ("Wed Jun  9 10:18:14 2021", 1_623_233_894),
            ("9 june 2021 10:18:14", 1_623_233_894), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("01-Jan-70 00:00:00", 0), ("29 Feb 2024 23:59:59", 1_709_251_199),
            ("Wed, 09 Jun 1600 10:18:14 GMT", nil), ("09 Jun 2021", nil), ("09 Jun 2021 24:00:00", nil),
            ("Wed, 09 Jun 2021 10:18:14GMT", 1_623_233_894), ("9th June 2021 10:18:14+00:00", 1_623_233_894),
            ("31 Feb 2027 00:00:00", nil), ("29 Feb 2023 00:00:00", nil), ("00 Jun 2021 00:00:00", nil),
            ("31 Dec 2021 00:00:00", 1_640_908_800),
            ("32 Jun 2021 10:18:14", nil), ("09 Foo 2021 10:18:14", nil), ("", nil), ("1:2:3", nil),
        ] as [(String, TimeInterval?)]
    )
    func `dates are read in the forms that servers write`(text: String, expected: TimeInterval?) {
        #expect(SetCookie.date(text)?.timeIntervalSince1970 == expected)
    }

    @Test(
        arguments: [
            ("a=1", ["a=1"]), ("a=1, b=2", ["a=1", "b=2"]),
            (
                "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Path=/, b=2",
                [
                    "a=1; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Path=/", "b=2",
                ]
            ),
            ("a=x, y, b=2", ["a=x, y", "b=2"]), ("a=1,b=2", ["a=1", "b=2"]), ("", [""]),
        ]
    )
    func `fields that the platform has joined are separated`(text: String, expected: [String]) {
        #expect(SetCookie.separated(text) == expected)
    }
}
