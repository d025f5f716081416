import Foundation
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct CacheKeyTests {
    private func key(_ text: String, _ partition: String? = nil) -> CacheKey? {
        URL(string: text).flatMap { url in
            var request = HTTPRequest(url: url)
            request.cachePartition = partition
            return CacheKey(request)
        }
    }

    @Test func `equal resources have equal keys`() {
        #expect(key("http://host/a?b") == key("HTTP://HOST:80/a?b#c"))
        #expect(key("https://host") == key("https://user:password@host:443/"))
    }

    @Test func `different resources have different keys`() {
        let keys = [
            key("http://host/a"), key("https://host/a"), key("http://host:81/a"), key("http://host/A"),
            key("http://host/a?"), key("http://host/a?user=alice"), key("http://host/a?user=bob"),
            key("http://host/%61"), key("http://other/a"), key("http://host/a", "p"), key("http://host/a", ""),
            key("http://host/a", "q"), key("http://host/a", "\u{e9}"), key("http://host/a", "e\u{301}"),
        ]
        #expect(keys.allSatisfy { $0 != nil } && Set(keys).count == keys.count)
    }

    @Test func `a key as text has what the key compares`() {
        #expect(key("HTTP://HOST/a?b")?.text == "http://host:80/a?b")
        #expect(key("https://host:81", "p")?.text == "p https://host:81/")
        #expect(key("ftp://host/a") == nil && key("httpx://host/a") == nil)
    }

    @Test func `a field's URL has the key of the request that it is sent as`() throws {
        let base = try #require(URL(string: "http://host/a/b"))
        let resolved = key("http://host/")?.resolving(" /a b%20c?d|%7C ", against: base)
        #expect(resolved != nil && resolved == key("http://host/a%20b%20c?d%7C%7C"))
    }

    @Test func `no key without a host`() {
        #expect(CacheKey(HTTPRequest(path: "/a")) == nil)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `the hash is that of the standard`(text: String, expected: String) {
        #expect(SHA256.text(Array(text.utf8)) == expected)
    }
}
