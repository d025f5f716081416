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
    @Suite("Options of a request")
    struct RequestOptions {
        private func client() -> URLClient {
            URLClient.fresh {
                $0.retries.clock = NotingClock()
                $0.deadlines.total = .seconds(60)
            }
        }

        @Test func `every door takes them, and URLs`() async throws {
            let server = try LoopbackServer { _ in .response(404, body: "1") }
            defer { server.stop() }
            let client = client()
            let url = server.url("/")
            let options = URLClient.RequestOptions(priority: 0.9, validation: .any)
            #expect(await client.begin(url, options: options).ending() == .status(404))
            #expect(await client.upload(url, from: .data(Data([1])), options: options).ending() == .status(404))
            #expect(server.requests.last?.method == "POST")
            #expect(try await client.decode(Int.self, from: url, options: options).get() == 1)
            #expect(try await client.stream(url, options: options).get().head.status == 404)
            let folder = try TemporaryDirectory()
            let refusal = Ending.client(.unacceptableStatus(code: 404, body: Data("1".utf8)))
            #expect(await client.download(url, to: folder.file, options: options).ending() == refusal)
            #expect(await client.begin(url).ending() == refusal)
        }

        @Test func `whatever is no upload can't be resumed, and says so`() async throws {
            let (client, options) = (client(), URLClient.RequestOptions(resumesUpload: true))
            let url = try #require(URL(string: "http://127.0.0.1:1/"))
            let folder = try TemporaryDirectory()
            let errors = [
                await client.begin(url, options: options).failure(),
                await client.decode(Int.self, from: url, options: options).failure(),
                await client.download(url, to: folder.file, options: options).failure(),
                await client.stream(url, options: options).failure(),
                await client.upload(url, from: .stream(AsyncStream { $0.finish() }), options: options).failure(),
            ]
            for error in errors {
                guard case .invalidRequest = (error as? URLClientError)?.code else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
        }

        @Test func `a request may have its own deadline and retries`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/stall" ? [.stall] : request.number == 1 ? .response(503) : .response(body: "hello")
            }
            defer { server.stop() }
            let client = client()
            var retries = URLClient.Retries()
            retries.clock = NotingClock()
            #expect(try await client.begin(server.url("/"), options: .init(retries: retries)).text() == "hello")
            let hasty = URLClient.RequestOptions(total: .milliseconds(50))
            #expect(await client.begin(server.url("/stall"), options: hasty).ending() == .client(.deadlineExceeded))
        }

        @Test func `a request's priority is that of its tasks, over URLSession`() async throws {
            let client = URLClient.fresh { $0.session.protocolClasses = [StubProtocol.self] }
            let url = try #require(URL(string: "http://stub/priority"))
            #expect(try await client.begin(url, options: .init(priority: 0.75)).text() == "0.75")
            #expect(try await client.begin(url).text() == "\(URLSessionTask.defaultPriority)")
        }
    }
}
