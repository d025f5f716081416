import Deferred
import DeferredTesting
import Foundation
import Testing

@testable import Services

struct RegistryTests {
    private let environment = HTTPEnvironment(host: "registry.example")

    /// A registry that wants a token for each repository, and its token server.
    private func registry(_ answer: @escaping @Sendable (HTTPRequest) -> StubLoader.Answer) -> StubLoader {
        StubLoader { request in
            if request.host == "auth.example" {
                let scope = request.query.first { $0.name == "scope" }?.value ?? ""
                return .json(#"{"token": "for \#(scope)"}"#)
            }
            let scope = request.method.isSafe ? "repository:a/b:pull" : "repository:a/b:pull,push"
            if request.headers["Authorization"] == "Bearer for \(scope)" { return answer(request) }
            let challenge = #"Bearer realm="https://auth.example/token",service="registry",scope="\#(scope)""#
            return .response(401, headers: ["WWW-Authenticate": challenge])
        }
    }

    @Test func `a blob is pulled with a token for its repository`() async throws {
        let bytes = Data("layer".utf8)
        let blob = Registry.Manifest.Blob(mediaType: "x", digest: Digest.text(bytes), size: bytes.count)
        let manifest = try Registry.Manifest(config: blob, layers: [blob])
        let stub = registry { _ in .response(body: String(decoding: manifest.bytes, as: UTF8.self)) }
        let registry = Registry(environment, credential: ("me", "hush"), over: stub)
        for _ in 0..<2 { #expect(try await registry.manifest(of: "a/b", "1").layers == [blob]) }
        // One request without a token, one for the token, and two with it.
        #expect(
            stub.requests.map(\.host) == ["registry.example", "auth.example", "registry.example", "registry.example"]
        )
        #expect(stub.requests[1].query.map(\.name) == ["service", "scope"])
        #expect(stub.requests[1].headers["Authorization"]?.hasPrefix("Basic ") == true)
    }

    @Test func `a blob is pushed to where the registry says, which gets a token only if it is the registry`()
        async throws
    {
        for place in ["https://registry.example/v2/a/b/blobs/uploads/1?state=x", "https://store.example/1?signature=x"]
        {
            let stub = registry { request in
                switch request.method {
                case .head: .response(404)
                case .post: .response(202, headers: ["Location": place])
                default: .response(201)
                }
            }
            let store = Intercept { request, next in
                guard request.host == "store.example" else { return try await next(request) }
                #expect(request.headers["Authorization"] == nil)
                return HTTPResponse(request: request, status: 201)
            }
            let bytes = Data("layer".utf8)
            let blob = try await Registry(environment, over: store --> stub).push(bytes, as: "x", to: "a/b")
            #expect(blob.digest == Digest.text(bytes))
        }
    }
}
