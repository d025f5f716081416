import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("References", .ownThread, .timeLimit(.minutes(1)))
struct URLReferenceTests {
    private let base = URL(string: "http://a/b/c/d;p?q")

    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"), ("../..", "http://a/"),
        ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("g;x=1/../y", "http://a/b/c/y"), ("g?y/../x", "http://a/b/c/g?y/../x"),
    ])
    func `the examples of RFC 3986 are resolved`(reference: String, expected: String) {
        #expect(URLReference.resolved(reference, against: base)?.absoluteString == expected)
    }

    @Test(arguments: [
        ("//b\u{FC}cher.example/a b%20", "http://xn--bcher-kva.example/a%20b%20"),
        ("//[::1]:8080/a|%7C", "http://[::1]:8080/a%7C%7C"), ("https://u:p%40s@h/a b%20", "https://u:p%40s@h/a%20b%20"),
        ("/a#b c%20#d", "http://a/a#b%20c%20%23d"), ("?/?:@%", "http://a/b/c/d;p?/?:@%25"),
        ("/\u{301}%20", "http://a/%CC%81%20"), ("x//b %20", "http://a/b/c/x//b%20%20"),
    ])
    func `only illegal characters are encoded`(reference: String, expected: String) {
        #expect(URLReference.resolved(reference, against: base)?.absoluteString == expected)
    }

    @Test func `a reference without a base is absolute or none`() {
        #expect(URLReference.resolved("http://h/a b", against: nil)?.absoluteString == "http://h/a%20b")
        #expect(URLReference.resolved("", against: base) == nil)
        #expect(URLReference.resolved("//a b/", against: base) == nil)
    }

    @Test(arguments: [("?page=2", "http://h/a/../b?page=2"), ("#s", "http://h/a/../b?q#s")])
    func `without a path, that of the base stays as it is`(reference: String, expected: String) {
        let base = URL(string: "http://h/a/../b?q")
        #expect(URLReference.resolved(reference, against: base)?.absoluteString == expected)
    }
}
