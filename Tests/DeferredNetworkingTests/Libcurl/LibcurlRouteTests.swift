#if os(Linux)
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Libcurl: route", .ownThread, .timeLimit(.minutes(1)))
struct LibcurlRouteTests {
    private func names(
        _ url: String,
        _ proxy: URLClient.Proxy = .environment,
        _ environment: [String: String] = [:]
    ) throws -> [String] {
        let url = try #require(URL(string: url))
        return LibcurlRoute(proxy, environment: environment).hops(to: url).map { ($0.isProxy ? "proxy " : "") + $0.key }
    }

    @Test func `without a proxy, the server's name is looked up`() throws {
        #expect(try names("http://A.test/") == ["a.test:80"] && names("https://a.test/") == ["a.test:443"])
        #expect(try names("https://a.test:8443/") == ["a.test:8443"])
        #expect(try names("http://a.test/", .none, ["http_proxy": "http://p.test"]) == ["a.test:80"])
    }

    @Test func `a proxy's name comes first, unless the environment excepts the host`() throws {
        let environment = ["http_proxy": "p.test:3128", "HTTPS_PROXY": "https://s.test", "no_proxy": "b.test, .c.test"]
        #expect(try names("http://a.test/", .environment, environment) == ["proxy p.test:3128", "a.test:80"])
        #expect(try names("https://a.test/", .environment, environment) == ["proxy s.test:443", "a.test:443"])
        for host in ["b.test", "x.b.test", "c.test", "y.c.test"] {
            #expect(try names("http://\(host)/", .environment, environment) == ["\(host):80", "proxy p.test:3128"])
        }
        #expect(try names("http://xb.test/", .environment, environment).first == "proxy p.test:3128")
        #expect(
            try names("http://a.test/", .environment, ["all_proxy": "socks5://q.test"]).first == "proxy q.test:1080"
        )
        // A server could set it by a field named Proxy, in a program that is run by CGI.
        #expect(try names("http://a.test/", .environment, ["HTTP_PROXY": "p.test"]) == ["a.test:80"])
        #expect(try names("http://a.test/", .environment, ["http_proxy": "HTTPS://p.test"]).first == "proxy p.test:443")
        let server = try #require(URL(string: "socks5h://u:p@r.test"))
        #expect(try names("http://b.test/", .server(server), environment) == ["proxy r.test:1080", "b.test:80"])
    }

    @Test(arguments: [
        "127.0.0.1": false, "::1": false, "localhost": false, "a.localhost": true, "ä": false, "a": true,
    ])
    func `what libcurl knows or converts is left to it`(name: String, isLookedUp: Bool) {
        #expect(LibcurlHop(name: name, port: 80).isLookedUp == isLookedUp)
    }
}
#endif
