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
    @Suite("Sessions that go")
    struct Lifetime {
        // On Apple's platforms a request runs on the session itself, and ends or raises an exception as the session's own do.
        #if canImport(FoundationNetworking)
        @Test(arguments: [true, false])
        func `a request on an invalidated session still runs`(isCancelling: Bool) async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let session = URLSession.fresh()
            isCancelling ? session.invalidateAndCancel() : session.finishTasksAndInvalidate()
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "hello")
        }

        @Test func `a request survives the invalidation of its session`() async throws {
            let session = URLSession.fresh(delegate: DecidingDelegate())
            let server = try LoopbackServer { request in
                guard request.path == "/" else { return .response(body: "hello") }
                session.invalidateAndCancel()
                return .redirect(to: "/next")
            }
            defer { server.stop() }
            #expect(try await session.beginDataTask(with: server.url("/")).text() == "hello")
        }

        @Test func `beginning while another thread invalidates never traps`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let endings = Log<Ending>()
            for _ in 0..<30 {
                let session = URLSession.fresh(delegate: DecidingDelegate())
                let tasks = Log<Task<(Data, URLResponse)>>()
                race(3) { index in
                    if index == 0 {
                        session.invalidateAndCancel()
                    } else {
                        tasks.add(session.beginDataTask(with: server.url("/")))
                    }
                }
                for task in tasks.entries { endings.add(await task.ending()) }
            }
            #expect(endings.entries == Array(repeating: .status(200), count: 60))
        }
        #endif

        @Test func `a request continues when its session is released`() async throws {
            let arrived = Deferred<Void>()
            let dropped = Deferred<Void>()
            let server = try LoopbackServer { _ in
                arrived.fill(with: ())
                dropped.wait()
                return .response(body: "hello")
            }
            defer { server.stop() }
            let task: Task<(Data, URLResponse)>
            weak var session: URLSession?
            do {
                let mine = URLSession.fresh()
                session = mine
                task = mine.beginDataTask(with: server.url("/"))
            }
            await arrived.value
            try await eventually { session == nil }
            dropped.fill(with: ())
            #expect(try await task.text() == "hello")
        }

        @Test func `a request continues when its task is released`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            let ending = Deferred<Ending>()
            URLSession.fresh().beginDataTask(with: server.url("/")).upon(.immediate) { ending.fill(with: Ending($0)) }
            #expect(await ending.value == .status(200))
        }

        @Test(arguments: ["/ok", "/redirect", "/basic", "/stall", "/short"])
        func `nothing is retained after the end`(path: String) async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/redirect": .redirect(to: "/ok")
                case "/basic": .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                case "/stall": [.stall]
                case "/short": .response(body: "12345", contentLength: 10) + [.close]
                default: .response(body: "hello")
                }
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let lifetimes = Lifetimes()
            weak var session: URLSession?
            weak var progress: Progress?
            do {
                let token = lifetimes.make()
                let mine = URLSession.fresh(
                    delegate: DecidingDelegate(redirect: {
                        token.touch(); $2($1)
                    })
                )
                let data = mine.beginDataTask(with: server.url(path)) { _ in token.touch() }
                let size = data.map {
                    token.touch(); return $0.0.count
                }
                let file = mine.beginDownloadTask(with: server.url(path), to: folder.file) { _ in token.touch() }
                session = mine
                progress = size.progress
                size.upon(.immediate) { _ in token.touch() }
                file.upon(.immediate) { _ in token.touch() }
                if path == "/stall" {
                    try await eventually { server.requestCount == 2 }
                    size.cancel()
                    file.cancel()
                }
                _ = await data.failure()
                _ = await file.failure()
                // Otherwise the session keeps its delegate, as on any platform, for an unspecified time.
                mine.invalidateAndCancel()
            }
            try await eventually { lifetimes.count == 0 && session == nil && progress == nil }
        }

        #if canImport(FoundationNetworking)
        @Test func `the connections of dropped sessions are closed`() async throws {
            let server = try LoopbackServer { _ in .response(body: "hello") }
            defer { server.stop() }
            for _ in 0..<20 {
                #expect(await URLSession.fresh().beginDataTask(with: server.url("/")).ending() == .status(200))
            }
            let last = URLSession.fresh()
            // Each request triggers a search for released sessions.
            while server.openConnectionCount > 1 {
                #expect(await last.beginDataTask(with: server.url("/")).ending() == .status(200))
            }
        }
        #endif
    }
}
