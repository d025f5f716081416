import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

extension ConformanceTests {
    /// Content codings.
    @Suite("Codings")
    struct Codings {
        typealias Route = ConformanceServer.Route

        private static let text = "coded, and decoded\n"

        /// Returns the content coding of a response to a client that accepts it, after looking at the text.
        private func coding(_ name: String, _ bytes: String, _ route: Route) async throws -> String? {
            let coded = try #require(Data(base64Encoded: bytes))
            let server = try ConformanceServer(route) { request in
                let accepted = request.headers["Accept-Encoding"]?.components(separatedBy: ", ") ?? []
                return accepted.contains(name)
                    ? .response(headers: ["Content-Encoding": name], body: .bytes(coded))
                    : .response(body: .text(Self.text))
            }
            defer { server.stop() }
            let (body, head) = try await server.client().begin(server.url()).get()
            #expect(head.status == 200 && String(decoding: body, as: UTF8.self) == Self.text)
            let stream = try await server.client().stream(server.url()).get()
            #expect(try await stream.body.collect() == body)
            let isAccepted = server.server.requests[0].headers["Accept-Encoding"]?.contains(name) ?? false
            #expect(head.headers["Content-Encoding"] == (isAccepted ? name : nil))
            return head.headers["Content-Encoding"]
        }

        @Test(arguments: Route.available)
        func `gzip is decoded`(route: Route) async throws {
            let bytes = "H4sIAAAAAAAAA0vOT0lN0VFIzEtRSElNBnG4AKvepzQTAAAA"
            #expect(try await coding("gzip", bytes, route) == "gzip")
        }

        @Test(arguments: Route.available)
        func `deflate is decoded`(route: Route) async throws {
            #expect(try await coding("deflate", "eJxLzk9JTdFRSMxLUUhJTQZxuABCUQZx", route) == "deflate")
        }

        /// Only where there is a library for it.
        @Test(arguments: Route.available)
        func `brotli is decoded`(route: Route) async throws {
            _ = try await coding("br", "CwmAY29kZWQsIGFuZCBkZWNvZGVkCgM=", route)
        }

        @Test(arguments: Route.available)
        func `a server may send the text as it is`(route: Route) async throws {
            for fields in [[:], ["Content-Encoding": "identity"]] as [HTTPHeaders] {
                let server = try ConformanceServer(route) { _ in .response(headers: fields, body: .text(Self.text)) }
                defer { server.stop() }
                #expect(try await server.client().begin(server.url()).answer() == (200, Self.text))
            }
        }
    }
}
