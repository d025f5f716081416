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

/// A server other than nginx that `Tests/RealServers/run` has started.
struct RealServer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let address: String

    static let all = (environment["DEFERRED_SERVERS"] ?? "").split(separator: " ").compactMap { text -> RealServer? in
        let parts = text.split(separator: "=", maxSplits: 1).map { String($0) }
        return parts.count == 2 ? RealServer(testDescription: parts[0], address: parts[1]) : nil
    }

    static let chromedriver = environment["DEFERRED_CHROMEDRIVER"]
    static let authority = environment["DEFERRED_NGINX_CA"]
    private static let environment = ProcessInfo.processInfo.environment

    func url(_ path: String) throws -> URL { try #require(URL(string: address + path)) }
}

/// Requests to the servers that people have, over the default engine. Without `Tests/RealServers/run`, they are skipped.
@Suite("Kinds of real servers", .ownThread, .timeLimit(.minutes(5)), .enabled(if: isLibcurlTested))
struct RealServerKindsTests {
    private func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        URLClient.fresh {
            if let file = RealServer.authority { $0.tls.authorities = .file(URL(filePath: file)) }
            change(&$0)
        }
    }

    @Test(arguments: RealServer.all)
    func `many requests on kept connections end well`(server: RealServer) async throws {
        let versions = Log<String?>()
        let client = client { $0.monitor = { event in event.metrics.map { versions.add($0.protocolVersion) } } }
        let tasks = try (0..<500).map { _ in try client.begin(server.url("/1k")) }
        for task in tasks { #expect(try await task.get().0.count == 1_024) }
        #expect(Set(versions.entries) == [server.address.hasPrefix("https") ? "HTTP/2" : "HTTP/1.1"])
        await client.shutdown().value
    }

    @Test(arguments: RealServer.all)
    func `bodies, heads, statuses and ranges are as they should be`(server: RealServer) async throws {
        let client = client { $0.validation = .any }
        let (text, response) = try await client.begin(server.url("/text.txt")).get()
        #expect(text == Data(repeating: UInt8(ascii: "a"), count: 2_000_000) && response.status == 200)
        let head = try await client.begin(URLRequest(server.url("/1k")) { $0.httpMethod = "HEAD" }).get()
        #expect(head.0.isEmpty && head.1.status == 200)
        #expect(try await client.begin(server.url("/nothing")).get().1.status == 404)
        let part = URLRequest(try server.url("/1k")) {
            $0.setValue("bytes=1000-", forHTTPHeaderField: "Range")
            $0.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        }
        let (rest, partial) = try await client.begin(part).get()
        #expect(rest.count == 24 && partial.status == 206)
        let folder = try TemporaryDirectory()
        _ = try await client.download(URLRequest(url: server.url("/text.txt")), to: folder.file).get()
        #expect(try Data(contentsOf: folder.file) == text)
        await client.shutdown().value
    }

    @Test(.enabled(if: RealServer.chromedriver != nil))
    func `chromedriver, whose fields have no space after the colon, answers a session request`() async throws {
        let address = try #require(RealServer.chromedriver)
        let client = client {
            $0.validation = .any
            $0.retries.attempts = 10
        }
        let status = try await client.begin(#require(URL(string: address + "/status"))).get()
        #expect(String(decoding: status.0, as: UTF8.self).contains("\"ready\":true"))
        // A browser that isn't there, because the answer matters and not the browser.
        let body = #"{"capabilities":{"alwaysMatch":{"goog:chromeOptions":{"binary":"/nonexistent"}}}}"#
        let request = try URLRequest.post(#require(URL(string: address + "/session")), Data(body.utf8))
        let (answer, response) = try await client.begin(request).get()
        #expect(response.status == 500)
        #expect(String(decoding: answer, as: UTF8.self).contains("session not created"))
        await client.shutdown().value
    }
}
