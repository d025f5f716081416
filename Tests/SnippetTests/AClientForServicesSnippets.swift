// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/AClientForServices.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AClientForServicesSnippets {
    @Test func `Configure it`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 13)
        let token = "secret"
        let server = try LoopbackServer { _ in .json(#"{"name": "Ada"}"#) }
        defer { server.stop() }
        let url = server.url("/users/1")
        struct User: Decodable { let name: String }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 20)






        var configuration = URLClient.Configuration()
        configuration.deadlines = .init(idle: .seconds(10), connectToHead: .seconds(5), total: .seconds(30))
        configuration.maximumRequestsInFlight = 64
        configuration.maximumBodySize = 16 << 20
        configuration.redirects = .sameOrigin()
        configuration.retries.attempts = 5
        configuration.authentication = .bearer(token)

        let client = URLClient(configuration: configuration)
        let user = try await client.decode(User.self, from: URLRequest(url: url)).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 38)
        #expect(user.name == "Ada")
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Limits and memory`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 74)
        let server = try LoopbackServer { _ in .response(body: .pattern(count: 1_000_000)) }
        defer { server.stop() }
        let url = server.url("/export.csv")
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 80)
        let export = try await client.stream(URLRequest(url: url)).get()  // when the head has arrived
        var count = 0
        for try await bytes in export.body { count += bytes.count }
        print(count, export.head.status)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 86)
        #expect(count == 1_000_000)
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Uploads and downloads`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 93)
        let server = try LoopbackServer { request in
            request.method == "PUT" ? .response(204) : .response(body: .pattern(count: 1000))
        }
        defer { server.stop() }
        let url = server.url("/backup")
        let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 104)
        let file = folder.appending(path: "backup.tar")
        let restored = try await client.download(URLRequest(url: url), to: file).get()

        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let saved = try await client.upload(request, from: .file(file)).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 112)
        #expect(restored.0 == file && saved.1.status == 204)
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Bodies that are made while they are sent`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 126)
        let server = try LoopbackServer { .response(body: "\($0.body.count) bytes") }
        defer { server.stop() }
        let url = server.url("/measurements")
        let measurements = [17.5, 17.25]
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 133)
        let body = URLClient.UploadBody.stream {
            AsyncStream { lines in
                for value in measurements { lines.yield(Data("\(value)\n".utf8)) }
                lines.finish()
            }
        }
        let counted = try await client.upload(url, from: body).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 142)
        #expect(String(decoding: counted.0, as: UTF8.self) == "11 bytes")
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Trailers and interim responses`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 156)
        let server = try LoopbackServer { request in
            .response(103, headers: ["Link": "</style.css>; rel=preload"])
                + .chunked(["\(request.body.count) bytes"], trailers: ["X-Sum": request.trailers["X-Sum"] ?? ""])
        }
        defer { server.stop() }
        let url = server.url("/measurements")
        let client = URLClient()
        let preloaded = Deferred<String>()
        let preload: @Sendable (String) -> Void = { preloaded.fill(with: $0) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 167)
        let sum = HTTPTrailers(["X-Sum"]) { ["X-Sum": "34.75"] }
        let body = URLClient.UploadBody.stream(trailers: sum) {
            AsyncStream { lines in
                for value in [17.5, 17.25] { lines.yield(Data("\(value)\n".utf8)) }
                lines.finish()
            }
        }
        let (_, head) = try await client.upload(url, from: body).get()
        print(head.trailers["X-Sum"] ?? "none")  // 34.75
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 178)
        #expect(head.trailers["X-Sum"] == "34.75")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 186)
        var options = URLClient.RequestOptions()
        options.onInterimResponse = { hints in
            for link in hints.links where link.relations.contains("preload") { preload(link.url.path) }
        }
        let page = try await client.begin(url, options: options).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 193)
        #expect(preloaded.peek() == "/style.css" && page.1.trailers["X-Sum"] == "")
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Resumable uploads`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 204)
        let server = try LoopbackServer(
            beforeBody: { request in
                request.method == "POST" ? .response(104, headers: ["Location": "/uploads/1"]) + [.receive(1), .close] : nil
            },
            respond: { request in
                request.method == "HEAD"
                    ? .response(204, headers: ["Upload-Offset": "4", "Upload-Complete": "?0"])
                    : .response(body: .text(String(decoding: request.body, as: UTF8.self)))
            }
        )
        defer { server.stop() }
        let url = server.url("/videos")
        let client = URLClient()
        let video = Data((0..<3_000_000).map { _ in 0x61 })
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 220)
        let options = URLClient.RequestOptions(resumesUpload: true)
        let stored = try await client.upload(url, from: .data(video), options: options).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 224)
        #expect(stored.0.count == video.count - 4)
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Credentials`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 265)
        let server = try LoopbackServer { request in
            request.headers["Authorization"] == "Bearer fresh" ? .json("[]") : .response(401, headers: ["WWW-Authenticate": "Bearer"])
        }
        defer { server.stop() }
        let url = server.url("/orders")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 272)
        @Sendable func freshToken() -> Task<String> { .success("fresh") }

        var configuration = URLClient.Configuration()
        configuration.authentication = .custom(preemptive: .bearer(token: "stale")) { challenge in
            guard challenge.refused.count < 2 else { return .success(nil) }  // take the 401
            return freshToken().map { .bearer(token: $0) }
        }
        let client = URLClient(configuration: configuration)
        let (orders, _) = try await client.begin(url).get()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 283)
        #expect(orders == Data("[]".utf8))
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Watch it`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 290)
        let server = try LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let url = server.url("/health")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 295)
        var configuration = URLClient.Configuration()
        configuration.monitor = { event in
            switch event.kind {
            case .retried(let attempt, let pause): print("attempt \(attempt) failed, next in \(pause)")
            case .finished(let error): print(event.original.url?.path ?? "", error.map { "\($0)" } ?? "ok", event.elapsed)
            default: break
            }
        }
        let client = URLClient(configuration: configuration)
        _ = try await client.begin(url).get()
        await client.shutdown().value
#sourceLocation()
    }

    @Test func `Shut down`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 363)
        let client = URLClient()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 366)
        let drained = client.shutdown()
        let tooLate = Deferred<Void>(filledWith: ()).delay(for: .seconds(10))
        await [drained, tooLate].firstFilled().value
        await client.invalidateAndCancel().value
#sourceLocation()
    }

    @Test func `Choose the engine`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 444)
        #if os(Linux)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 447)
        let client = URLClient()
        print(client.engine)  // libcurl 8.14.1
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/AClientForServices.md", line: 451)
        #expect(client.engine.hasPrefix("libcurl "))
        #endif
#sourceLocation()
    }
}
