import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Background sessions", .ownThread, .timeLimit(.minutes(1)))
struct BackgroundSessionsTests {
    @Test func `the refusal names the session`() {
        let text = BackgroundSessions.refusal(of: "com.example.sync").description
        #expect(text.contains("\"com.example.sync\"") && !text.contains("\n"))
    }

    // Elsewhere, a session has no way to be one.
    #if !canImport(FoundationNetworking)
    @Test func `other sessions are not refused`() throws {
        try BackgroundSessions.refuse(.default)
        try BackgroundSessions.refuse(.ephemeral)
    }

    @Test func `they are refused before a task is made`() async throws {
        let configuration = URLSessionConfiguration.background(withIdentifier: "com.example.sync")
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://127.0.0.1:1/"))
        let refusal = BackgroundSessions.refusal(of: "com.example.sync")
        #expect(await session.beginDataTask(with: url).failure() as? URLClientError == refusal)
        let file = FileManager.default.temporaryDirectory.appending(path: "never")
        #expect(await session.beginDownloadTask(with: url, to: file).failure() as? URLClientError == refusal)
        let client = URLClient.fresh { $0.session = configuration }
        #expect(await client.begin(url).failure() as? URLClientError == refusal)
    }
    #endif
}
