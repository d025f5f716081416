import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    @Suite("Odd URLs")
    struct OddURLs {
        /// The hosts of URLs for a client with a proxy, so that none is looked up.
        private static var hosts: [String] {
            let punctuation = " !\"$&'()*+,;<=>@[\\]^_`{|}~".flatMap { mark in
                ["\(mark)a.invalid", "a\(mark)b.invalid", "a.invalid\(mark)", "a.\(mark).invalid", "\(mark)"]
            }
            let encoded = (0..<256).map { "a%\($0 < 16 ? "0" : "")\(String($0, radix: 16))b.invalid" }
            let long = [
                String(repeating: "x", count: 63) + ".invalid", String(repeating: "x", count: 64) + ".invalid",
                String(repeating: "n.", count: 150) + "invalid", String(repeating: "n", count: 254) + ".invalid",
                String(repeating: "m", count: 70_000) + ".invalid",
            ]
            let dots = [".invalid", "..invalid", "a..invalid", "a.invalid.", "a.invalid..", "-.invalid", "-a-.invalid"]
            let names = [
                "bücher.invalid", "日本.invalid", "☃.invalid", "😀.invalid", "xn--.invalid", "xn--zzzzzzzz.invalid",
                "a\u{AD}b.invalid", "a\u{202E}b.invalid", "a\u{3002}invalid", "a\u{0}b.invalid", "a\nb.invalid",
            ]
            let numbers = [
                "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "%31%32%37.0.0.1", "1", "0",
                "\u{FF11}\u{FF12}\u{FF17}.0.0.1", "256.256.256.256", "1.2.3.4.5", "4294967296", "0x", "0xg.invalid",
            ]
            let brackets = [
                "[", "]", "[]", "[[::1]]", "[::1", "::1]", "::1", "[::1]x", "x[::1]", "[:::1]", "[::G]", "[1:2]",
                "[127.0.0.1]", "[localhost]", "[v1.fe80::a]", "[vF.x]", "[%3A%3A1]", "%5B::1%5D", "[::1%25]",
                "[::1%25nosuch]", "[fe80::1%25a/b]", "[]:80", "[::1]:0", "[::1]:99999", "[::1]:x", "[::1]:-1",
            ]
            let ports = ["0", "-1", "x", "65536", "99999999999999999999999", "9:9", "%39"].map { "host.invalid:\($0)" }
            let users = ["@", ":@", "me@", "me:secret@", "me:secret@a!b.invalid", "a@b@c.invalid"]
            return punctuation + encoded + long + dots + names + numbers + brackets + ports + users
        }

        private static let others = [
            "file:///etc/hostname", "file:", "data:,hello", "data:text/plain;base64,aGk=", "ftp://host.invalid/",
            "ws://host.invalid/", "mailto:a@host.invalid", "javascript:alert(1)", "about:blank", "urn:x:y",
            "host.invalid", "host.invalid/path", "host.invalid:80/path", "localhost:9/path", "//host.invalid/path",
            "/path", "?query", "#fragment", ".", ":", "://host.invalid/", ":http://host.invalid/", "http", "http:",
            "http:/", "http://", "http:///", "http:///path", "http:////path", "http:path", "http:/path", "http:?query",
            "http://?query", "http://#fragment", "http://:80/", "https:", "https:///path", "http;//host.invalid",
        ]

        // Elsewhere, there is no proxy in the environment.
        #if canImport(FoundationNetworking)
        @Test func `every URL is requested, or refused with its text and the remedy`() async {
            await #expect(processExitsWith: .success) {
                let proxy = try LoopbackServer { _ in .response(body: "") }
                defer { proxy.stop() }
                setenv("http_proxy", proxy.url("/").absoluteString, 1)
                unsetenv("no_proxy")
                let texts = Self.hosts.map { "http://\($0)/path?key=secret" } + Self.others
                let urls = texts.flatMap { text in
                    [true, false].compactMap { URL(string: text, encodingInvalidCharacters: $0) }
                }
                #expect(urls.count > 400)
                let client = URLClient.fresh()
                var refusals = 0
                for (url, task) in urls.map({ ($0, client.begin($0)) }) {
                    guard case .failure(let failure) = await task.result else { continue }
                    guard let error = failure as? URLClientError, case .invalidRequest(let reason) = error.code else {
                        Issue.record("\(url): \(failure)")
                        continue
                    }
                    refusals += 1
                    #expect(error.url == url)
                    #expect(reason.contains("; ") && reason.utf8.count < 1_000, "\(error)")
                    #expect(error.description.hasSuffix(": " + DisplayText.quoted(url)), "\(error)")
                    #expect(!error.description.contains("secret"), "\(error)")
                }
                #expect(refusals > 100 && proxy.requestCount == urls.count - refusals)
            }
        }
        #endif

        @Test func `a host that the engine can't read is refused, also of a redirect`() async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/port": .redirect(to: "http://127.0.0.1:99999999999999999999/")
                case "/range": .redirect(to: "http://127.0.0.1:99999/")
                default: .redirect(to: "http://a!b.invalid/")
                }
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            let host = try #require(await client.begin(server.url("/host")).failure() as? URLClientError)
            #expect(
                host.description == "The request cannot be sent: the host of \"http://a!b.invalid/\" is neither a name "
                    + "nor an address that can be connected to; use a name of letters, digits, hyphens and dots, or an "
                    + "address such as 127.0.0.1: \"http://a!b.invalid/\""
            )
            let port = try #require(await client.begin(server.url("/port")).failure() as? URLClientError)
            #expect(
                port.description
                    == "The request cannot be sent: the port of \"http://127.0.0.1:99999999999999999999/\" "
                    + "is out of range; use 1 to 65535: \"http://127.0.0.1:99999999999999999999/\""
            )
            let range = try #require(await client.begin(server.url("/range")).failure() as? URLClientError)
            #expect(range.url?.absoluteString == "http://127.0.0.1:99999/")
        }
    }
}
