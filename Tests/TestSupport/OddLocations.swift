package import Foundation
internal import Testing

/// A `Location` in a response to `GET /t/base?q=1`, and what is requested next.
package struct OddLocation: Sendable, CustomTestStringConvertible {
    /// The bytes of the field; `HOST` stands for the server's host and port.
    let bytes: [UInt8]

    /// The next request's target; `nil` if the redirect is delivered.
    package let target: String?

    /// The next request's target from curl 7.88.1, if that is another one; empty if curl fails.
    let curl: String?

    package var isUTF8: Bool { String(validating: bytes, as: UTF8.self) != nil }

    package var testDescription: String { String(decoding: bytes, as: UTF8.self) }

    private init(_ text: String, _ target: String?, curl: String? = nil) {
        self.init(Array(text.utf8), target, curl: curl)
    }

    private init(_ bytes: [UInt8], _ target: String?, curl: String? = nil) {
        (self.bytes, self.target, self.curl) = (bytes, target, curl)
    }

    /// Returns a redirect of a server.
    package func response(host: String) -> Data {
        let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(of: "HOST", with: host)
        let head = Data("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8)
        return head + (isUTF8 ? Data(text.utf8) : Data(bytes)) + Data("\r\n\r\n".utf8)
    }

    /// curl sends illegal ASCII characters and single percent signs as they are, a space in a query as a plus, and writes
    /// escapes in lower case.
    package static let all: [OddLocation] = [
        .init("/a b%20c", "/a%20b%20c"), .init("/a%20b c|d", "/a%20b%20c%7Cd", curl: "/a%20b%20c|d"),
        .init("/a|b%E9", "/a%7Cb%E9", curl: "/a|b%E9"), .init("/a%2Fb%2fb", "/a%2Fb%2fb"), .init("/%41", "/%41"),
        .init("/100% sure%20x", "/100%25%20sure%20x", curl: "/100%%20sure%20x"),
        .init("/t/?q=50%&r=a%20b", "/t/?q=50%25&r=a%20b", curl: "/t/?q=50%&r=a%20b"),
        .init("/t/?q=50%&r=a b", "/t/?q=50%25&r=a%20b", curl: "/t/?q=50%&r=a+b"),
        .init("/50%", "/50%25", curl: "/50%"), .init("/%zz%20", "/%25zz%20", curl: "/%zz%20"),
        .init("/%2", "/%252", curl: "/%2"), .init("/%%20", "/%25%20", curl: "/%%20"),
        .init("/%%%41", "/%25%25%41", curl: "/%%%41"), .init("/?q=a b%20c", "/?q=a%20b%20c", curl: "/?q=a+b%20c"),
        .init("/caf\u{E9}", "/caf%C3%A9", curl: "/caf%c3%a9"),
        .init("/\u{E9}%C3%A9?\u{E9}", "/%C3%A9%C3%A9?%C3%A9", curl: "/%c3%a9%C3%A9?%c3%a9"),
        .init("/%E2%82%AC \u{20AC}", "/%E2%82%AC%20%E2%82%AC", curl: "/%E2%82%AC%20%e2%82%ac"),
        .init(Array("/caf".utf8) + [0xE9], "/caf%E9", curl: "/caf%e9"),
        .init(Array("/caf".utf8) + [0xE9] + "%20x?".utf8 + [0xE9], "/caf%E9%20x?%E9", curl: "/caf%e9%20x?%e9"),
        .init([0x2F, 0xFF, 0xFE], "/%FF%FE", curl: "/%ff%fe"),
        .init("/a\"b", "/a%22b", curl: "/a\"b"), .init("/a<b>c", "/a%3Cb%3Ec", curl: "/a<b>c"),
        .init("/a^b`c{d}", "/a%5Eb%60c%7Bd%7D", curl: "/a^b`c{d}"), .init("/a\\b", "/a%5Cb", curl: "/a\\b"),
        .init("\\g", "/t/%5Cg", curl: "/t/\\g"), .init("/?x=\\", "/?x=%5C", curl: "/?x=\\"),
        .init("/a[b]c%20", "/a%5Bb%5Dc%20", curl: "/a[b]c%20"),
        .init("/?a[b]=%20", "/?a%5Bb%5D=%20", curl: "/?a[b]=%20"),
        .init("/?a|b=%7C", "/?a%7Cb=%7C", curl: "/?a|b=%7C"), .init("/?a'b\"c", "/?a'b%22c", curl: "/?a'b\"c"),
        .init("/a\tb%20", "/a%09b%20", curl: ""), .init("/a\u{1}b", "/a%01b", curl: ""),
        .init("/a\u{7F}b", "/a%7Fb", curl: ""),
        .init("/a#b#c", "/a"), .init("/#%zz", "/"), .init("/a b#c d?e%20", "/a%20b"),
        .init("#f", "/t/base?q=1", curl: "/t/"), .init("#f g%20", "/t/base?q=1", curl: "/t/"),
        .init("/a;p=1,2", "/a;p=1,2"), .init("/a'b(c)*!", "/a'b(c)*!"), .init("/a+b?c+d", "/a+b?c+d"),
        .init("/a&b=c@d$e", "/a&b=c@d$e"), .init("/~x_y-z.", "/~x_y-z."), .init("/a?b?c", "/a?b?c"),
        .init("?n=7", "/t/base?n=7"), .init("?", "/t/base?", curl: "/t/base"), .init("", nil, curl: ""),
        .init("  /x  ", "/x"), .init("g", "/t/g"), .init("./g", "/t/g"), .init("../g", "/g"),
        .init("../../../g", "/g"), .init("/../g", "/g"), .init("/a/./b/../c", "/a/c"), .init("/a//b///c", "/a//b///c"),
        .init("/..", "/"), .init("/.", "/"), .init(".", "/t/"), .init("..", "/"), .init("/a/..", "/"),
        .init("/a/.", "/a/"), .init(";x", "/t/;x"), .init("g;x=1/../y", "/t/y"), .init("/a?b/../c", "/a?b/../c"),
        .init("g?y/./x", "/t/g?y/./x"), .init("g#s/../x", "/t/g"), .init("/..%2f..%2fetc", "/..%2f..%2fetc"),
        .init("a b:c", nil, curl: "/t/a%20b:c"), .init("/a:b", "/a:b"), .init("./a:b", "/t/a:b"),
        .init("1:2", nil, curl: ""),
        .init("a:b", nil, curl: ""), .init("javascript:alert(1)", nil, curl: ""),
        .init("ftp://127.0.0.1/", nil, curl: ""),
        .init("http:g", nil, curl: ""), .init("http:///g", nil, curl: ""), .init("//", nil, curl: ""),
        .init("//a b/x", nil, curl: ""), .init("http://HOST\\x", nil, curl: ""),
        .init("//HOST/x y%20", "/x%20y%20"), .init("http://HOST", "/"),
        .init("HTTP://HOST/up", "/up"), .init("http://HOST?x=1 %20", "/?x=1%20%20", curl: "/?x=1+%20"),
        .init("http://HOST/a b/%20", "/a%20b/%20"), .init("http://HOST/a/../b", "/b"),
    ]
}
