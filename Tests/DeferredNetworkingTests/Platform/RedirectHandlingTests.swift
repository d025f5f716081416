import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects on top of the platform's proposal", .ownThread, .timeLimit(.minutes(1)))
struct RedirectHandlingTests {
    private func request(_ path: String, _ method: String, _ change: (inout URLRequest) -> Void = { _ in }) throws
        -> URLRequest
    {
        URLRequest(try #require(URL(string: "http://host" + path))) {
            $0.httpMethod = method
            change(&$0)
        }
    }

    @Test func `a body that no request has comes from the proposal`() throws {
        let proposal = try request("/platform", "PUT") {
            $0.httpBody = Data("known".utf8)
            $0.setValue("secret", forHTTPHeaderField: "Authorization")
        }
        let next = try request("/ours", "PUT") { $0.setValue("1", forHTTPHeaderField: "X-A") }
        let combined = RedirectHandling.combine(next, with: proposal)
        #expect(combined.url?.path == "/ours" && combined.httpBody == Data("known".utf8))
        #expect(combined.allHTTPHeaderFields == ["X-A": "1"])
    }

    @Test func `otherwise the request is sent as it is`() throws {
        let proposal = try request("/platform", "PUT") { $0.httpBody = Data("known".utf8) }
        let ours = try request("/ours", "PUT") { $0.httpBody = Data("other".utf8) }
        #expect(RedirectHandling.combine(ours, with: proposal).httpBody == Data("other".utf8))
        #expect(RedirectHandling.combine(try request("/ours", "GET"), with: proposal).httpBody == nil)
        #expect(RedirectHandling.combine(try request("/ours", "DELETE"), with: proposal).httpBody == nil)
    }
}
