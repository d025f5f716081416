import DeferredCore
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionTests {
    /// Tests of situations that a bare session gets wrong on Linux. Each test is named after one.
    @Suite("Where a bare session traps, hangs or is wrong")
    struct Defences {
        private func server() throws -> LoopbackServer {
            try LoopbackServer { request in
                switch request.path {
                case "/ok": .response(body: "hello")
                case "/silent": [.stall]
                case "/redirect": .redirect(to: "/ok")
                case "/basic":
                    .response(401, headers: ["WWW-Authenticate": "Basic realm=\"here\""], body: "denied")
                case "/echo":
                    .response(headers: ["X-Method": request.method], body: .bytes(request.body))
                case "/keep": .redirect(to: "/echo", status: request.query("status").flatMap { Int($0) } ?? 307)
                default: .response(404)
                }
            }
        }

        @Test func `cancelling while a redirect is pending does not trap`() async throws {
            let server = try server()
            defer { server.stop() }
            let task = Deferred<Task<(Data, URLResponse)>>()
            let delegate = DecidingDelegate(redirect: { _, request, answer in
                task.upon(.immediate) { task in
                    task.cancel()
                    answer(request)
                    answer(request)
                }
            })
            task.fill(with: URLSession.fresh(delegate: delegate).beginDataTask(with: server.url("/redirect")))
            #expect(await task.value.ending() == .url(.cancelled))
        }

        @Test func `cancelling redirected requests at random moments does not trap`() async throws {
            let server = try server()
            defer { server.stop() }
            let session = URLSession.fresh(delegate: DecidingDelegate())
            let endings = Log<Ending>()
            await withTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(worker))
                        for _ in 0..<250 {
                            let task = session.beginDataTask(with: server.url("/redirect"))
                            await giveWay(using: &random)
                            task.cancel()
                            endings.add(await task.ending())
                        }
                    }
                }
            }
            #expect(endings.entries.count == 1_000)
            #expect(endings.entries.allSatisfy { [.status(200), .url(.cancelled)].contains($0) })
            #expect(await session.beginDataTask(with: server.url("/redirect")).ending() == .status(200))
        }

        @Test func `cancelling Swift tasks that await a request does not stop all sessions`() async throws {
            let server = try server()
            defer { server.stop() }
            let session = URLSession.fresh()
            let refused = try #require(URL(string: "http://127.0.0.1:1/"))
            let ends = Log<Void>()
            await withTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(worker))
                        for round in 0..<500 {
                            let url = round.isMultiple(of: 2) ? refused : server.url("/ok")
                            let task = _Concurrency.Task { try await session.beginDataTask(with: url).get() }
                            await giveWay(using: &random)
                            task.cancel()
                            _ = await task.result
                            ends.add(())
                        }
                    }
                }
            }
            #expect(ends.entries.count == 2_000)
            let answer = Deferred<Data?>()
            let unrelated = URLSession(configuration: .ephemeral)
            unrelated.dataTask(with: server.url("/ok")) { data, _, _ in answer.fill(with: data) }.resume()
            #expect(try await answer.get() == Data("hello".utf8))
        }

        @Test func `a 401 without credentials is delivered with its body`() async throws {
            let server = try server()
            defer { server.stop() }
            let (body, response) = try await URLSession.fresh().beginDataTask(with: server.url("/basic")).get()
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            #expect(String(decoding: body, as: UTF8.self) == "denied")
            #expect(server.requestCount == 1)
        }

        @Test func `Cancelling thousands of transfers on a session with a cache ends each of them once`() async throws {
            let server = try server()
            defer { server.stop() }
            let session = URLSession.fresh {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            }
            let ends = Log<Ending>()
            var tasks: [Task<(Data, URLResponse)>] = []
            for index in 0..<3_000 {
                // Every other task is cancelled right after the platform's task was resumed, at which point the cache
                // traps.
                let moment = index.isMultiple(of: 2) ? Deferred<Void>() : Deferred(filledWith: ())
                let task = session.beginDataTask(with: server.url("/ok")) { _ in moment.fill(with: ()) }
                task.upon(.immediate) { ends.add(Ending($0)) }
                moment.upon(.immediate) { task.cancel() }
                tasks.append(task)
                if index.isMultiple(of: 50) { _ = await task.failure() }
            }
            for task in tasks { _ = await task.failure() }
            #expect(ends.entries.count == 3_000)
            #expect(await session.beginDataTask(with: server.url("/ok")).ending() == .status(200))
        }

        @Test(arguments: [TimeInterval.infinity, .nan, 0, -1])
        func `an infinite time-out is refused instead of trapping`(timeout: TimeInterval) async throws {
            let server = try server()
            defer { server.stop() }
            let task = URLSession.fresh().beginDataTask(
                with: URLRequest(server.url("/ok")) { $0.timeoutInterval = timeout }
            )
            let error = await task.failure()
            #expect("\(error as Any)".contains("time-out of \(timeout) s"))
            #expect(server.requestCount == 0)
        }

        @Test func `a time-out of half a second lasts that long`() async throws {
            let server = try server()
            defer { server.stop() }
            let request = URLRequest(server.url("/silent")) { $0.timeoutInterval = 0.5 }
            let start = ContinuousClock.now
            #expect(await URLSession.fresh().beginDataTask(with: request).ending() == .url(.timedOut))
            #expect(ContinuousClock.now - start >= .milliseconds(500))
        }

        @Test(arguments: [307, 308], ["POST", "PUT"])
        func `a redirect that keeps the method keeps the body`(status: Int, method: String) async throws {
            let server = try server()
            defer { server.stop() }
            for body in [Data("hello".utf8), LoopbackServer.Payload.patternBytes(0..<3_000_000)] {
                var request = URLRequest.post(server.url("/keep?status=\(status)"), body)
                request.httpMethod = method
                let (data, response) = try await URLSession.fresh().beginDataTask(with: request).get()
                let isSame = data == body
                #expect(isSame)
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Method") == method)
            }
        }

        @Test func `a header name cannot inject another header`() async throws {
            let server = try server()
            defer { server.stop() }
            let request = URLRequest(server.url("/ok")) { $0.setValue("v", forHTTPHeaderField: "X-A: 1\r\nX-Injected") }
            let error = await URLSession.fresh().beginDataTask(with: request).failure()
            #expect("\(error as Any)".contains(#"header name "X-A: 1\r\nX-Injected""#))
            #expect(server.requestCount == 0)
        }
    }
}
