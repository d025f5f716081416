import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Decoding in the caller's isolation", .ownThread, .timeLimit(.minutes(1)))
struct URLClientDecodedTests {
    /// Belongs to the main actor with its conformance, as all types of a module do that is isolated to it by default.
    @MainActor
    private final class User: @MainActor Decodable {
        let name: String
    }

    @MainActor
    @Test func `a type that belongs to the main actor`() async throws {
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let user = try await URLClient().begin(server.url()).decoded(User.self)
        #expect(user.name == "Ada")
    }

    @Test func `failures of the request and of the decoder`() async throws {
        let server = try LoopbackServer { $0.path == "/404" ? .response(404) : .json("[") }
        defer { server.stop() }
        let client = URLClient()
        await #expect(throws: DecodingError.self) { _ = try await client.begin(server.url()).decoded([Int].self) }
        await #expect(throws: URLClientError.self) {
            _ = try await client.begin(server.url("/404")).decoded([Int].self)
        }
    }

    @Test func `cancelling the Swift task that waits cancels the request`() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let request = URLClient().begin(server.url())
        let waiting = _Concurrency.Task { try await request.decoded([Int].self) }
        waiting.cancel()
        await #expect(throws: (any Error).self) { _ = try await waiting.value }
        #expect(await request.result.isCancelled)
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.isCancellation } else { false }
    }
}
