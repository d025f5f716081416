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

extension URLSessionTests {
    /// Tests each delegate method by an effect that only this method has: a method with a misspelt signature would
    /// compile, and never be called.
    @Suite("Each delegate method that the library implements is called by the platform")
    struct DelegateMethods {
        private func outcome(
            of request: URLRequest,
            onProgress: @escaping @Sendable (BodyProgress) -> Void = { _ in }
        ) async -> Result<(Data, ResponseHead), any Error> {
            await withCheckedContinuation { continuation in
                let retained = URLSessionEngine.retainedEngine(for: .fresh())
                Exchange.gather(.checked(request), on: retained, onProgress: onProgress) {
                    continuation.resume(returning: $0)
                }
            }
        }

        @Test func `didReceive response, didReceive data and didComplete`() async throws {
            let server = try LoopbackServer { _ in .response(203, body: "hello") }
            defer { server.stop() }
            let (data, head) = try await outcome(of: URLRequest(url: server.url("/"))).get()
            #expect(head.status == 203)
            #expect(data == Data("hello".utf8))
        }

        @Test func `willPerformHTTPRedirection, without which the platform drops the body of a 307`() async throws {
            let server = try LoopbackServer { request in
                request.path == "/" ? .redirect(to: "/echo", status: 307) : .response(body: .bytes(request.body))
            }
            defer { server.stop() }
            let (data, _) = try await outcome(of: .post(server.url("/"), Data("kept".utf8))).get()
            #expect(data == Data("kept".utf8))
        }

        @Test func `didReceive challenge, without which a 401 never ends`() async throws {
            let server = try LoopbackServer { _ in
                .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            }
            defer { server.stop() }
            #expect(await Ending(outcome(of: URLRequest(url: server.url("/")))) == .status(401))
        }

        @Test func `didSendBodyData, which counts all bytes of the body`() async throws {
            let server = try LoopbackServer { _ in .response(200) }
            defer { server.stop() }
            let (sent, totals) = (Log<Int64>(), Log<Int64?>())
            let body = Data(count: 300_000)
            _ = try await outcome(of: .post(server.url("/"), body)) { progress in
                guard progress.direction == .sent else { return }
                sent.add(progress.completed)
                totals.add(progress.total)
            }.get()
            #expect(Set(totals.entries) == [300_000])
            #expect(sent.entries.last == 300_000)
            #expect(sent.entries == sent.entries.sorted())
        }

        // CFNetwork sends it again by itself.
        #if canImport(FoundationNetworking)
        @Test func `needNewBodyStream, without which a POST on a stale connection is sent without its body`()
            async throws
        {
            let server = try LoopbackServer(
                beforeBody: { request in
                    // The second request on a connection finds it closed.
                    request.connectionNumber == 1 && request.number > 1 ? [.close] : nil
                },
                respond: { _ in .response(200) }
            )
            defer { server.stop() }
            let session = URLSession.fresh()
            #expect(await session.beginDataTask(with: server.url("/")).ending() == .status(200))
            let request = URLRequest.post(server.url("/"), Data("body".utf8))
            let error = await session.beginDataTask(with: request).failure() as? URLError
            #expect(error?.code == .requestBodyStreamExhausted)
            #expect(error?.failingURL == server.url("/"))
        }
        #endif

        @Test func `didBecomeInvalid, which ends tasks that the platform forgot`() async throws {
            let server = try LoopbackServer { _ in [.stall] }
            defer { server.stop() }
            let engine = URLSessionEngine(copying: .default)
            let ending = Deferred<Ending>()
            let request = CheckedRequest.checked(URLRequest(url: server.url("/")))
            let retained = URLSessionEngine.retainedEngine(for: .fresh())
            let exchange = Exchange.gather(request, on: retained) { ending.fill(with: Ending($0)) }
            engine.delegate.tasks.withLock { $0[1] = SessionTask(of: exchange, as: 1) }
            engine.invalidate()
            #expect(await ending.value == .client(.shutDown))
        }
    }
}
