import DeferredHTTP
import DeferredNetworking
import DeferredTesting
import Foundation
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct HTTPRequestCheckTests {
    private func reason(_ change: (inout HTTPRequest) -> Void) -> String? {
        var request = HTTPRequest(host: "host", path: "/")
        change(&request)
        do throws(URLClientError) {
            _ = try request.check()
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\u{7F}", "a\u{1}"])
    func `a header value cannot smuggle in another field`(value: String) throws {
        let reason = try #require(reason { $0.headers["X-Name"] = value })
        #expect(reason.contains("X-Name") && reason.contains("control characters") && !reason.contains("Evil"))
    }

    @Test(arguments: ["", "X Name", "X:Name", "X\r\nName", "Näme", "X(1)"])
    func `a header name has to be a token`(name: String) throws {
        #expect(try #require(reason { $0.headers.add(name: name, value: "1") }).contains("header name"))
    }

    @Test(arguments: ["", "GET /", "GET\r\n", "GÉT"])
    func `a method has to be a token`(method: String) throws {
        #expect(try #require(reason { $0.method = HTTPMethod(rawValue: method) }).contains("method"))
    }

    @Test(arguments: [
        "host/path", "user@host", "host?x", "host#x", "host\r\n", "ho st", "localhost:8080", "cafe:8080", "a\\b",
        "[::1", "::1]",
    ])
    func `a host has to be a host`(host: String) throws {
        #expect(try #require(reason { $0.host = host }).contains("the host"))
    }

    @Test func `the rest of a URL has to be right`() throws {
        #expect(try #require(reason { $0.scheme = "ftp" }).contains("\"ftp\" is not http"))
        #expect(try #require(reason { $0.port = 65_536 }).contains("65536"))
        #expect(try #require(reason { $0.host = nil }).contains("no host"))
        #expect(try #require(reason { $0.body = .file(URL(filePath: "/nowhere/at/all")) }).contains("/nowhere/at/all"))
        #expect(reason { $0.headers["X"] = "a\tü" } == nil)
    }

    @Test func `a content type cannot smuggle in another field`() throws {
        #expect(reason { $0.body = .data(Data(), contentType: "a/b\r\nX: 1") } != nil)
    }

    @Test func `a request that cannot be sent fails with the reason, and nothing is sent`() throws {
        var request = HTTPRequest(host: "host")
        request.headers["X"] = "1\r\n2"
        guard case .failure(let error) = try #require(URLSessionLoader.underTest().load(request).peek()) else { return }
        #expect(error.code == .invalidRequest && error.request.id == request.id)
        #expect(error.description.contains("line break"))
    }
}
