import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

/// Each row names the section of RFC 9111, unless it names another RFC.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct StoringRulesTests {
    // section | request | response | verdict
    @Test(arguments: [
        "3 | GET | 200; Cache-Control: max-age=1 | store",
        "3 | GET | 200; Cache-Control: max-age=0 | store",
        "3 | GET | 200; Expires: @10 | store",
        "3 | GET | 200; Expires: 0 | store",
        "3 | GET | 200; ETag: \"a\" | store",
        "3 | GET | 200; Last-Modified: @-10 | store",
        "3 | GET | 200; Cache-Control: stale-if-error=60 | store",
        "3 | GET | 200 | store",
        "3 | GET | 200; Cache-Control: public | store",
        "3 | GET | 404 | remove",
        "3 | GET | 201 | remove",
        "3 | GET | 500 | ignore",
        "5.2.2.2 | GET | 200; Cache-Control: must-revalidate | remove",
        "5.2.2.4 | GET | 200; Cache-Control: no-cache | remove",
        "3 | GET | 201; Cache-Control: max-age=1 | store",
        "3 | GET | 202; Cache-Control: max-age=1 | store",
        "3 | GET | 302; Cache-Control: max-age=1 | store",
        "3 | GET | 303; Cache-Control: max-age=1 | store",
        "3 | GET | 307; Cache-Control: max-age=1 | store",
        "3 | GET | 400; Cache-Control: max-age=1 | store",
        "3 | GET | 404; Cache-Control: max-age=1 | store",
        "3 | GET | 500; Cache-Control: max-age=1 | store",
        "3 | GET | 503; Cache-Control: max-age=1 | store",
        "3 | GET | 599; Cache-Control: max-age=1 | store",
        "3 | GET | 199; Cache-Control: max-age=1 | remove",
        "3 | GET | 201; ETag: \"a\" | remove",
        "3 | GET | 202; ETag: \"a\" | remove",
        "3 | GET | 302; Last-Modified: @-10 | remove",
        "3 | GET | 307; Last-Modified: @-10 | remove",
        "3 | GET | 400; Last-Modified: @-10 | remove",
        "3 | GET | 403; Last-Modified: @-10 | remove",
        "3 | GET | 500; Last-Modified: @-10 | ignore",
        "3 | GET | 502; Last-Modified: @-10 | ignore",
        "3 | GET | 503; Last-Modified: @-10 | ignore",
        "3 | GET | 504; Last-Modified: @-10 | ignore",
        "3 | GET | 599; Last-Modified: @-10 | ignore",
        "3 | GET | 599; Last-Modified: @-10; Cache-Control: public | store",
        "3 | GET | 404; ETag: \"a\" | store",
        "3 | GET | 410; ETag: \"a\" | store",
        "3 | GET | 301; Last-Modified: @-10 | store",
        "3 | GET | 308; Last-Modified: @-10 | store",
        "5.2.2.5 | GET | 200; Cache-Control: no-store, max-age=1 | remove",
        "5.2.2.5 | GET | 200; Cache-Control: No-STORE, max-age=1 | remove",
        "5.2.2.5 | GET | 200; Cache-Control: max-age=1; Cache-Control: no-store | remove",
        "5.2.2.5 | GET | 200; Cache-Control: a=\"no-store\", max-age=1 | store",
        "5.2.1.5 | GET; Cache-Control: no-store | 200; Cache-Control: max-age=1 | remove",
        "5.2.2.3 | GET | 200; Cache-Control: must-understand, no-store, max-age=1 | store",
        "5.2.2.3 | GET | 299; Cache-Control: must-understand, no-store, max-age=1 | remove",
        "5.2.2.3 | GET | 299; Cache-Control: must-understand, max-age=1 | remove",
        "5.2.2.3 | GET | 404; Cache-Control: must-understand, max-age=1 | store",
        "5.2.2.7 | GET | 200; Cache-Control: private, max-age=1 | store",
        "5.2.2.7 | GET | 200; Cache-Control: private=\"a\", max-age=1 | store",
        "5.2.2.4 | GET | 200; Cache-Control: no-cache, max-age=1 | store",
        "5.2.2.4 | GET | 200; Cache-Control: no-cache; ETag: \"a\" | store",
        "3.5 | GET; Authorization: a | 200; Cache-Control: max-age=1 | store",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: * | remove",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: *, A | remove",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: A, * | remove",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: A; Vary: * | remove",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: , * | remove",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: A | store",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: Cookie | remove",
        "4.1 | GET; Cookie: a=b | 200; Cache-Control: max-age=1; Vary: Cookie | store",
        "4.1 | GET | 200; Cache-Control: max-age=1; Vary: Accept-Encoding | store",
        "3 | GET; Range: bytes=0-1 | 200; Cache-Control: max-age=1 | remove",
        "3 | GET; Range: bytes=0-1 | 404; Cache-Control: max-age=1 | store",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/9 | store",
        "3.3 | GET; Range: bytes=0-5 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/9 | store",
        "3.3 | GET; Range: bytes=-5 | 206; Cache-Control: max-age=1; Content-Range: bytes 4-8/9 | store",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 1-2/9 | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/* | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-2/9 | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/1 | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: lines 0-1/9 | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1 | remove",
        "3.3 | GET; Range: bytes=0-1 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/9; Content-Encoding: gzip | remove",
        "3.3 | GET; Range: bytes=0-1,3-4 | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/9 | remove",
        "3.3 | GET | 206; Cache-Control: max-age=1; Content-Range: bytes 0-1/9 | remove",
        // Methods.
        "3 | HEAD | 200; Cache-Control: max-age=1 | ignore",
        "3 | OPTIONS | 200; Cache-Control: max-age=1 | ignore",
        "3 | TRACE | 200; Cache-Control: max-age=1 | ignore",
        "4.4 | POST | 200 | invalidate /a/b?c",
        "4.4 | POST | 200; Cache-Control: max-age=1 | invalidate /a/b?c",
        "4.4 | PUT | 204 | invalidate /a/b?c",
        "4.4 | DELETE | 200 | invalidate /a/b?c",
        "4.4 | PATCH | 201 | invalidate /a/b?c",
        "4.4 | M-SEARCH | 200 | invalidate /a/b?c",
        "4.4 | POST | 302 | invalidate /a/b?c",
        "4.4 | POST | 304 | invalidate /a/b?c",
        "4.4 | POST | 400 | ignore",
        "4.4 | POST | 404 | ignore",
        "4.4 | PUT | 500 | ignore",
        "4.4 | DELETE | 503 | ignore",
        "4.4 | POST | 201; Location: /x | invalidate /a/b?c /x",
        "4.4 | POST | 201; Location: x?y | invalidate /a/b?c /a/x?y",
        "4.4 | POST | 201; Location: http://host/x | invalidate /a/b?c /x",
        "4.4 | POST | 201; Location: http://HOST:80/x | invalidate /a/b?c /x",
        "4.4 | POST | 201; Location: http://other/x | invalidate /a/b?c",
        "4.4 | POST | 201; Location: https://host/x | invalidate /a/b?c",
        "4.4 | POST | 201; Location: http://host:81/x | invalidate /a/b?c",
        "4.4 | POST | 201; Content-Location: /x | invalidate /a/b?c /x",
        "4.4 | POST | 201; Content-Location: /x; Location: /y | invalidate /a/b?c /y /x",
        "4.4 | POST | 201; Location: /a/b?c | invalidate /a/b?c",
        "4.4 | POST | 201; Location: mailto:a | invalidate /a/b?c",
        "9110 9.3.3 | POST | 200; Content-Location: /a/b?c; Cache-Control: max-age=1 | invalidate /a/b?c, store",
        "9110 9.3.3 | POST | 200; Content-Location: b?c; Cache-Control: max-age=1 | invalidate /a/b?c, store",
        "9110 9.3.3 | POST | 200; Content-Location: /a/b?c | invalidate /a/b?c",
        "9110 9.3.3 | POST | 200; Content-Location: /a/b?c; ETag: \"a\" | invalidate /a/b?c",
        "9110 9.3.3 | POST | 200; Content-Location: /a/b; Cache-Control: max-age=1 | invalidate /a/b?c /a/b",
        "9110 9.3.3 | POST | 200; Content-Location: /a/b?c; Cache-Control: max-age=1, no-store | invalidate /a/b?c",
        "9110 9.3.3 | POST | 201; Content-Location: /a/b?c; Cache-Control: max-age=1 | invalidate /a/b?c",
        "9110 9.3.4 | PUT | 200; Content-Location: /a/b?c; Cache-Control: max-age=1 | invalidate /a/b?c",
        "4.3.4 | GET; If-None-Match: \"a\" | 304; ETag: \"a\" | ignore",
    ])
    func `a response is stored as the standard says`(row: String) {
        let columns = RulesTable.columns(row)
        let verdict = StoringRules.judge(RulesTable.exchange(columns[1], columns[2]))
        #expect(RulesTable.text(verdict) == columns[3])
    }

    // section | stored response | request | v: with the cache's own conditions | response | verdict
    @Test(arguments: [
        "4.3.4 | 200; ETag: \"a\" | GET | v | 304 | update",
        "4.3.4 | 200; ETag: \"a\" | GET | v | 304; ETag: \"a\" | update",
        "4.3.4 | 200; ETag: W/\"a\" | GET | v | 304; ETag: W/\"a\" | update",
        "4.3.4 | 200; ETag: \"a\" | GET | v | 304; ETag: W/\"a\" | update",
        "4.3.4 | 200; ETag: \"a\" | GET | v | 304; ETag: \"b\" | repeat",
        "4.3.4 | 200; Last-Modified: @-9 | GET | v | 304; ETag: \"b\" | repeat",
        "4.3.4 | 200; Last-Modified: @-9 | GET | v | 304; Last-Modified: @-9 | update",
        "4.3.4 | 200; Last-Modified: @-9 | GET | v | 304; Last-Modified: @-8 | repeat",
        "4.3.4 | 200; Last-Modified: @-9 | HEAD | v | 304 | update",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 200; ETag: \"b\" | store",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 200; ETag: \"a\" | store",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 200; Cache-Control: no-store | remove",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 404 | remove",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 410; Cache-Control: max-age=1 | store",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 500 | ignore",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 503 | ignore",
        "4.3.3 | 200; ETag: \"a\" | GET | v | 503; Cache-Control: max-age=1 | store",
        "4.3.4 | 200; ETag: \"a\" | GET; If-None-Match: \"a\" | - | 304; ETag: \"a\" | update beside",
        "4.3.4 | 200; ETag: \"a\" | GET; If-None-Match: \"b\" | - | 304; ETag: \"b\" | ignore",
        "4.3.4 | 200; ETag: \"a\" | GET; If-None-Match: \"a\" | - | 304 | ignore",
        "4.3.4 | 200; Last-Modified: @-9 | GET; If-Modified-Since: @-9 | - | 304; Last-Modified: @-9 | update beside",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 200; ETag: \"a\" | update beside",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 200 | ignore",
        "4.3.5 | 200; Last-Modified: @-9 | HEAD | - | 200 | ignore",
        "4.3.5 | 200; Cache-Control: max-age=9 | HEAD | - | 200 | ignore",
        "4.3.5 | 200; ETag: \"a\"; Content-Length: 10 | HEAD | - | 200; Content-Length: 10 | ignore",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 200; ETag: \"b\" | remove",
        "4.3.5 | 200; Last-Modified: @-9 | HEAD | - | 200; Last-Modified: @-8 | remove",
        "4.3.5 | 200; ETag: \"a\"; Content-Length: 10 | HEAD | - | 200; ETag: \"a\"; Content-Length: 10 | update beside",
        "4.3.5 | 200; ETag: \"a\"; Content-Length: 10 | HEAD | - | 200; Content-Length: 11 | remove",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 200; Cache-Control: no-store | remove",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 410 | remove",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 404 | remove",
        "4.3.5 | 200; ETag: \"a\" | HEAD | - | 503 | ignore",
        "4.3.5 | 404; ETag: \"a\" | HEAD | - | 404; ETag: \"a\" | update beside",
        "3.4 | 200; ETag: \"a\" | GET; Range: bytes=0-1 | - | 206; ETag: \"a\"; Content-Range: bytes 0-1/10 | update beside",
        "3.4 | 200; ETag: \"a\" | GET; Range: bytes=0-1 | - | 206; ETag: \"b\"; Content-Range: bytes 0-1/10 | store",
        "3.4 | 200; ETag: \"a\" | GET; Range: bytes=0-1 | - | 200; ETag: \"a\" | update beside",
        "3.4 | 200; ETag: W/\"a\" | GET; Range: bytes=0-1 | - | 200; ETag: W/\"a\" | ignore",
        "3.4 | 200; ETag: \"a\" | GET; Range: bytes=0-1 | - | 200; ETag: \"b\" | remove",
        "3.4 | 200; ETag: \"a\" | GET; Range: bytes=0-1 | - | 200 | remove",
        "3.4 | 200; ETag: W/\"a\" | GET; Range: bytes=0-1 | - | 206; ETag: W/\"a\"; Content-Range: bytes 0-1/10 | store",
    ])
    func `a stored response is kept up to date as the standard says`(row: String) throws {
        let columns = RulesTable.columns(row)
        let stored = try #require(RulesTable.stored(columns[1]), "not stored")
        let exchange = RulesTable.exchange(
            columns[2],
            columns[4],
            stored: stored,
            isValidation: columns[3] == "v",
            at: 9
        )
        #expect(RulesTable.text(StoringRules.judge(exchange)) == columns[5])
    }

    // section | response to the request for the rest of bytes 0 to 3 of 10 with the tag "a" | verdict
    @Test(arguments: [
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 4-9/10 | append",
        "3.4 | 206; ETag: \"b\"; Content-Range: bytes 4-9/10 | repeat",
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 4-9/10; Cache-Control: no-store | repeat",
        "3.4 | 206; Content-Range: bytes 4-9/10 | repeat",
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 5-9/10 | repeat",
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 4-8/10 | repeat",
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 4-9/11 | repeat",
        "3.4 | 206; ETag: \"a\"; Content-Range: bytes 4-9/10; Content-Encoding: gzip | repeat",
        "3.4 | 206; ETag: \"a\" | repeat",
        "3.4 | 416; Content-Range: bytes */4 | repeat",
        "3.4 | 412 | repeat",
        "3.4 | 304; ETag: \"a\" | repeat",
        "3.4 | 304 | repeat",
        "3.4 | 200; ETag: \"a\"; Content-Range: bytes 4-9/10 | repeat",
        "3.4 | 200; ETag: \"b\" | store",
        "3.4 | 404 | remove",
        "3.4 | 503 | ignore",
    ])
    func `a part is completed by its rest only`(row: String) throws {
        let columns = RulesTable.columns(row)
        let part = "206; ETag: \"a\"; Content-Range: bytes 0-3/10; Content-Length: 4"
        let stored = try #require(RulesTable.stored(part, to: "GET; Range: bytes=0-3"))
        let verdict = StoringRules.judge(
            RulesTable.exchange("GET", columns[1], stored: stored, isValidation: true)
        )
        #expect(RulesTable.text(verdict) == columns[2])
        guard case .append(let head) = verdict else { return }
        #expect(head.status == .ok && head.extent == .init(count: 10, total: 10))
        #expect(head.headers["Content-Range"] == nil && head.headers["Content-Length"] == "10")
    }

    @Test func `the head of the whole says nothing about a part`() throws {
        let part = "206; ETag: \"a\"; Content-Range: bytes 0-3/10"
        let stored = try #require(RulesTable.stored(part, to: "GET; Range: bytes=0-3"))
        for tag in ["a", "b"] {
            let exchange = RulesTable.exchange("HEAD", "200; ETag: \"\(tag)\"", stored: stored)
            #expect(RulesTable.text(StoringRules.judge(exchange)) == "ignore")
        }
    }

    // section | Vary | first request | second request | same or other
    @Test(arguments: [
        "4.1 | Foo | Foo: 1 | Foo: 1 | same",
        "4.1 | Foo | Foo: 1 | Foo: 2 | other",
        "4.1 | Foo | Foo: 1 | Bar: 1 | other",
        "4.1 | Foo | Bar: 1 | Bar: 2 | same",
        "4.1 | Foo | Bar: 1 | Foo: 1 | other",
        "4.1 | Foo | Foo: , | Bar: 1 | other",
        "4.1 | foo | FOO: 1 | Foo: 1 | same",
        "4.1 | Foo, Bar | Foo: 1; Bar: 2 | Bar: 2; Foo: 1 | same",
        "4.1 | Foo, Bar | Foo: 1; Bar: 2 | Foo: 1; Bar: 3 | other",
        "4.1 | Foo, Bar | Foo: 1; Bar: 2 | Foo: 2; Bar: 1 | other",
        "4.1 | Foo, Bar | Foo: 12; Bar: 3 | Foo: 1; Bar: 23 | other",
        "4.1 | Foo | Foo: 1, 2 | Foo: 1; Foo: 2 | same",
        "4.1 | Foo | Foo: 1,2 | Foo:  1 ,  2 | same",
        "4.1 | Foo | Foo: 1, 2 | Foo: 2, 1 | other",
        "4.1 | Foo | Foo: a | Foo: A | other",
        "4.1 | Foo | Foo: a b | Foo: ab | other",
        "4.1 | Foo | Foo: \"a, b\" | Foo: \"a,b\" | other",
        "4.1 | Accept-Language | Accept-Language: en, de | Accept-Language: de, en | same",
        "4.1 | Accept-Language | Accept-Language: en, de | Accept-Language: eN, De | same",
        "4.1 | Accept-Language | Accept-Language: en, de | Accept-Language: en ,   de | same",
        "4.1 | Accept-Language | Accept-Language: en;q=0.5 | Accept-Language: en ;q=0.5 | same",
        "4.1 | Accept-Language | Accept-Language: en | Accept-Language: de | other",
        "4.1 | Accept-Language | Accept-Language: en;q=0.5, de | Accept-Language: en, de;q=0.5 | other",
        "3.5 | A | Authorization: a | Authorization: a | same",
        "3.5 | A | Authorization: a | Authorization: b | other",
        "3.5 | A | Authorization: a | B: b | other",
        "3.5 | A | B: b | Authorization: a | other",
    ])
    func `a variant is for equal fields only`(row: String) throws {
        let columns = RulesTable.columns(row)
        let response = "200; Cache-Control: max-age=9; Vary: \(columns[1])"
        let head = try #require(RulesTable.stored(response, to: "GET; " + columns[2]))
        let second = RulesTable.request("GET; " + columns[3]).headers
        let isSame = head.variant.matches(second, isPublic: false, salt: RulesTable.salt)
        #expect((isSame ? "same" : "other") == columns[4])
    }

    // section | Content-Language | first Accept-Language | second | same or other
    @Test(arguments: [
        "4.1 | de | en, de | fr;q=0.5, de;q=1.0 | same",
        "4.1 | de | en, de | de | same",
        "4.1 | DE | en, de | De, fr;q=0.9 | same",
        "4.1 | de | en, de | de, fr | other",
        "4.1 | de | en, de | fr, de;q=0.9 | other",
        "4.1 | de | en, de | de;q=0 | other",
        "4.1 | de | en, de | * | other",
        "4.1 | de, en | en, de | de | other",
        "4.1 | | en, de | de | other",
    ])
    func `the language that is wanted most is as good as the same languages`(row: String) throws {
        let columns = RulesTable.columns(row)
        let response =
            "200; Cache-Control: max-age=9; Vary: Accept-Language, A; Content-Language: \(columns[1])"
        let head = try #require(
            RulesTable.stored(response, to: "GET; A: 1; Accept-Language: \(columns[2])")
        )
        for (value, expected) in [("1", columns[4]), ("2", "other")] {
            let second = RulesTable.request("GET; A: \(value); Accept-Language: \(columns[3])").headers
            let isSame = head.variant.matches(second, isPublic: false, salt: RulesTable.salt)
            #expect((isSame ? "same" : "other") == expected)
        }
    }

    @Test func `what is public is everybody's`() throws {
        let response = "200; Cache-Control: public, max-age=9"
        let head = try #require(RulesTable.stored(response, to: "GET; Authorization: a"))
        #expect(head.variant.names.isEmpty)
        let other = RulesTable.request("GET; Authorization: b").headers
        #expect(head.variant.matches(other, isPublic: true, salt: RulesTable.salt))
    }

    @Test func `what loaders below the cache have added can't mix users or languages`() {
        func verdict(_ response: String, sent: String) -> String {
            RulesTable.text(StoringRules.judge(RulesTable.exchange("GET", response, sent: sent)))
        }
        #expect(verdict("200; Cache-Control: max-age=9", sent: "GET; Authorization: a") == "ignore")
        #expect(
            verdict("200; Cache-Control: max-age=9, public", sent: "GET; Authorization: a") == "store"
        )
        #expect(verdict("200; Cache-Control: max-age=9; Vary: A", sent: "GET; A: 1") == "ignore")
        #expect(verdict("200; Cache-Control: max-age=9; Vary: B", sent: "GET; A: 1") == "store")
    }

    @Test func `what the cache itself has added is no change by loaders below it`() throws {
        let stored = try #require(
            RulesTable.stored("200; Cache-Control: max-age=9; ETag: \"1\"; Vary: If-None-Match, Cache-Control")
        )
        func verdict(_ sent: String) -> String {
            let response = "304; Cache-Control: max-age=9; ETag: \"1\""
            return RulesTable.text(
                StoringRules.judge(RulesTable.exchange("GET", response, stored: stored, isValidation: true, sent: sent))
            )
        }
        #expect(verdict("GET; If-None-Match: \"1\"; Cache-Control: max-age=0").hasPrefix("update"))
        for field in ["Authorization: a", "Host: b"] {
            #expect(!verdict("GET; If-None-Match: \"1\"; \(field)").hasPrefix("update"))
        }
    }

    @Test func `the response of another URL is not stored`() throws {
        let response = "200; Cache-Control: max-age=9"
        for text in [
            "http://host/other", "https://host/a/b?c", "http://other/a/b?c", "http://host:81/a/b?c",
        ] {
            let url = try #require(URL(string: text))
            #expect(
                RulesTable.text(StoringRules.judge(RulesTable.exchange("GET", response, url: url)))
                    == "ignore"
            )
        }
        for text in ["http://HOST:80/a/b?c#d", "http://user:password@host/a/b?c"] {
            let url = try #require(URL(string: text))
            #expect(
                RulesTable.text(StoringRules.judge(RulesTable.exchange("GET", response, url: url)))
                    == "store"
            )
        }
    }

    // request | v: with the cache's own conditions | response of another URL | verdict
    @Test(arguments: [
        "GET | v | 304; ETag: \"a\" | repeat",
        "GET | v | 304 | repeat",
        "GET | v | 206; ETag: \"a\"; Content-Range: bytes 4-9/10 | repeat",
        "GET | v | 412; ETag: \"a\" | repeat",
        "GET | v | 416; ETag: \"a\" | repeat",
        "GET | v | 200; ETag: \"a\" | ignore",
        "GET | v | 404 | ignore",
        "HEAD | v | 304 | repeat",
        "HEAD | - | 200; ETag: \"a\" | ignore",
        "GET; If-None-Match: \"a\" | - | 304; ETag: \"a\" | ignore",
        "GET; Range: bytes=0-1 | - | 206; ETag: \"a\"; Content-Range: bytes 0-1/10 | ignore",
        "GET; Range: bytes=0-1 | - | 200; ETag: \"a\" | ignore",
        "GET; Range: bytes=0-1 | - | 416; ETag: \"a\" | ignore",
    ])
    func `the response of another URL says nothing about what is stored`(row: String) throws {
        let columns = RulesTable.columns(row)
        let stored = try #require(RulesTable.stored("200; ETag: \"a\""))
        let url = try #require(URL(string: "http://host/other"))
        let isValidation = columns[1] == "v"
        let exchange = RulesTable.exchange(columns[0], columns[2], stored: stored, isValidation: isValidation, url: url)
        #expect(RulesTable.text(StoringRules.judge(exchange)) == columns[3])
    }

    // stored tag | tag of a 304 or of the response to a HEAD | tag that is stored then
    @Test(arguments: [
        "W/\"a\" | \"a\" | W/\"a\"",
        "W/\"a\" | W/\"a\" | W/\"a\"",
        "\"a\" | \"a\" | \"a\"",
        "\"a\" | W/\"a\" | W/\"a\"",
    ])
    func `no answer makes a weak tag a strong one`(row: String) throws {
        let columns = RulesTable.columns(row)
        let stored = try #require(RulesTable.stored("200; ETag: \(columns[0])"))
        for (request, status) in [("GET", "304"), ("HEAD", "200")] {
            let answer = "\(status); ETag: \(columns[1])"
            let exchange = RulesTable.exchange(request, answer, stored: stored, isValidation: request == "GET")
            guard case .update(let head, _) = StoringRules.judge(exchange) else {
                Issue.record("not updated")
                return
            }
            #expect(head.etag?.text == columns[2])
        }
    }

    @Test(arguments: [
        "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Transfer-Encoding", "Upgrade", "Trailer", "Age", "Listed", "also-LISTED",
    ])
    func `fields of a connection are not stored`(name: String) throws {
        let response =
            "200; Cache-Control: max-age=9; Connection: listed, Also-Listed; Other: 1; \(name): a"
        let head = try #require(RulesTable.stored(response))
        #expect(
            head.headers[name] == nil && head.headers["Connection"] == nil && head.headers["Other"] == "1"
        )
    }

    @Test func `a 304 replaces fields, except those of the body`() throws {
        let stored = try #require(
            RulesTable.stored(
                "200; ETag: \"a\"; A: 1; B: 1; Content-Length: 10; Content-Type: text/plain; Age: 7"
            )
        )
        let response =
            "304; ETag: \"a\"; A: 2; A: 3; C: 1; Content-Length: 0; Cache-Control: max-age=9; Upgrade: h2"
        let exchange = RulesTable.exchange("GET", response, stored: stored, isValidation: true, at: 100)
        guard case .update(let head, true) = StoringRules.judge(exchange) else {
            Issue.record("not updated")
            return
        }
        #expect(
            head.headers.values(for: "A") == ["2", "3"] && head.headers["B"] == "1"
                && head.headers["C"] == "1"
        )
        #expect(head.headers["Content-Length"] == "10" && head.headers["Content-Type"] == "text/plain")
        #expect(head.headers["Upgrade"] == nil && head.lifetime == 9 && head.ageValue == 0)
        #expect(head.age(at: RulesTable.instant(after: 103)) == 3_000)
    }
}
