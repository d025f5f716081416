import DeferredCore
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClientTests {
    @Suite("Uploading a sequence")
    struct UploadSequence {
        private struct Failure: Error {}

        private static func pieces(_ texts: String...) -> AsyncStream<Data> {
            AsyncStream { continuation in
                for text in texts { continuation.yield(Data(text.utf8)) }
                continuation.finish()
            }
        }

        private static func put(_ url: URL) -> URLRequest { URLRequest(url) { $0.httpMethod = "PUT" } }

        @Test(arguments: [nil, 5])
        func `a sequence is sent, whatever its pieces, and again for another attempt`(length: Int64?) async throws {
            let server = try LoopbackServer { .response($0.number == 1 ? 503 : 200, body: "ok") }
            defer { server.stop() }
            let client = URLClient.fresh { $0.retries.attempts = 2 }
            let body = URLClient.UploadBody.stream(length: length) { Self.pieces("ab", "", "cde") }
            #expect(try await client.upload(Self.put(server.url("/")), from: body).text() == "ok")
            #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["abcde", "abcde"])
            if length != nil { #expect(server.requests[0].headers["Content-Length"] == "5") }
        }

        @Test func `a sequence is sent anew after a redirect that keeps the body, and on a new connection`()
            async throws
        {
            let whole = Log<Data>()
            let server = try LoopbackServer { request in
                if request.path != "/" { whole.add(request.body) }
                switch request.path {
                case "/moved": return .response(307, headers: ["Location": "/there"])
                case "/lost": return request.number == 2 ? [.close] : .response(body: "ok")
                default: return .response(body: "ok")
                }
            }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumConnectionsPerHost = 1 }
            _ = try await client.begin(server.url("/")).get()
            for path in ["/lost", "/moved"] {
                let body = URLClient.UploadBody.stream { Self.pieces("abc") }
                let outcome = await client.upload(Self.put(server.url(path)), from: body).result
                // Over URLSession, what was sent on a kept connection that is lost isn't sent again.
                if path == "/moved" || isLibcurlTested { #expect(try outcome.get().0 == Data("ok".utf8)) }
            }
            #expect(whole.entries.count >= 3 && whole.entries.allSatisfy { $0 == Data("abc".utf8) })
        }

        @Test func `a spooled sequence that stalls is a time-out, and no second attempt's error`() async throws {
            let server = try LoopbackServer { _ in .response(200) }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.base = .zero
                $0.deadlines.idle = .milliseconds(100)
            }
            let (pieces, continuation) = AsyncStream<Data>.makeStream()
            let request = URLRequest(server.url("/")) { $0.httpMethod = "PUT" }
            #expect(await client.upload(request, from: .stream(pieces, spooled: true)).ending() == .url(.timedOut))
            #expect(server.requestCount == 0)
            continuation.finish()
        }

        @Test func `a sequence that can be sent once is not sent again, unless it is spooled`() async throws {
            let server = try LoopbackServer { request in
                switch request.path {
                case "/moved": .response(307, headers: ["Location": "/there"])
                case "/busy": .response(request.number % 2 == 1 ? 503 : 200, body: "ok")
                default: .response(body: "ok")
                }
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.validation = .any
            }
            func upload(_ path: String, spooled: Bool) async -> Ending {
                await client.upload(
                    Self.put(server.url(path)),
                    from: .stream(Self.pieces("ab", "c"), spooled: spooled)
                ).ending()
            }
            #expect(await upload("/busy", spooled: false) == .status(503))
            #expect(await upload("/moved", spooled: false) == .url(.requestBodyStreamExhausted))
            let count = server.requestCount
            #expect(count == 2)
            #expect(await upload("/busy", spooled: true) == .status(200))
            #expect(await upload("/moved", spooled: true) == .status(200))
            #expect(server.requests[count...].map { $0.body } == Array(repeating: Data("abc".utf8), count: 4))
            #expect(server.requests[count...].allSatisfy { $0.headers["Content-Length"] == "3" })
        }

        @Test(arguments: [false, true])
        func `a sequence that was sent once makes no other body`(spooled: Bool) async throws {
            let whole = Log<Data>()
            let server = try LoopbackServer {
                whole.add($0.body)
                return .response(body: "ok")
            }
            defer { server.stop() }
            let client = URLClient.fresh()
            let body = URLClient.UploadBody.stream(Self.pieces("abc"), spooled: spooled)
            #expect(try await client.upload(server.url("/"), from: body).text() == "ok")
            let outcome = await client.upload(server.url("/"), from: body).result
            if spooled {
                #expect(try outcome.get().0 == Data("ok".utf8))
            } else {
                let error = #expect(throws: URLClientError.self) { try outcome.get() }
                #expect("\(try #require(error))".contains("can be sent once, and was"))
            }
            #expect(whole.entries == Array(repeating: Data("abc".utf8), count: spooled ? 2 : 1))
        }

        @Test func `spooling that failed is begun again by the next attempt`() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let opened = Log<Void>()
            let body = URLClient.UploadBody.stream(spooled: true) {
                opened.add(())
                let isFirst = opened.entries.count == 1
                return AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("abc".utf8))
                    continuation.finish(throwing: isFirst ? Failure() : nil)
                }
            }
            let client = URLClient.fresh()
            #expect(await client.upload(server.url("/"), from: body).failure() is Failure)
            #expect(try await client.upload(server.url("/"), from: body).text() == "ok")
            // One that is cancelled while it is spooled doesn't end the others.
            let never = URLClient.UploadBody.stream(spooled: true) { AsyncStream<Data> { $0.yield(Data("a".utf8)) } }
            let task = client.upload(server.url("/"), from: never)
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
        }

        @Test func `a closure makes a sequence with the caller's task-locals, and under no lock`() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            for spooled in [false, true] {
                let (names, client) = (Log<String>(), URLClient.fresh())
                let inner = URLClient.UploadBody.stream(spooled: spooled) { Self.pieces("inner") }
                let body = URLClient.UploadBody.stream(spooled: spooled) {
                    names.add(Local.name)
                    // Another request, whose body may be the same one's.
                    client.upload(server.url("/"), from: inner).upon(.immediate) { _ in }
                    return Self.pieces("outer")
                }
                let task = Local.$name.withValue("caller") { client.upload(server.url("/"), from: body) }
                #expect(try await task.text() == "ok" && names.entries == ["caller"])
            }
        }

        private enum Local {
            @TaskLocal static var name = "none"
        }

        @Test func `a large piece costs as much a byte as small ones`() async throws {
            let size = 64 << 20
            let server = try LoopbackServer { .response(body: "\($0.body.count)") }
            defer { server.stop() }
            let body = URLClient.UploadBody.stream {
                AsyncStream {
                    $0.yield(Data(count: size)); $0.finish()
                }
            }
            // Moving the rest with each chunk would take minutes.
            #expect(try await URLClient.fresh().upload(server.url("/"), from: body).text() == "\(size)")
        }

        @Test func `an announced length below zero is refused`() async throws {
            let body = URLClient.UploadBody.stream(length: -1) { Self.pieces() }
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            let failure = await URLClient.fresh().upload(url, from: body).failure()
            #expect("\(try #require(failure))".contains("the announced length of its body is -1"))
        }

        @Test func `a spooled file is removed with its body`() async throws {
            func files() -> Set<String> {
                let names = try? FileManager.default.contentsOfDirectory(
                    atPath: FileManager.default.temporaryDirectory.path
                )
                return Set((names ?? []).filter { $0.hasPrefix("deferred-body-") })
            }
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let before = files()
            var new: Set<String> = []
            do {
                let body = URLClient.UploadBody.stream(Self.pieces("abc"), spooled: true)
                for _ in 0..<2 { _ = try await URLClient.fresh().upload(server.url("/"), from: body).get() }
                new = files().subtracting(before)
                #expect(!new.isEmpty)
            }
            try await eventually { files().isDisjoint(with: new) }
        }

        private static let wrongLengths: [([String], Int64)] = [
            (["ab"], 3), ([], 1), (["a"], 0), (["abcd"], 3), (["abc", "d"], 3), (["a", "b", "c", "", "d"], 3),
        ]

        @Test(arguments: wrongLengths)
        func `a sequence of another length than announced fails, and is never whole`(
            texts: [String],
            length: Int64
        ) async throws {
            let whole = Log<Data>()
            let server = try LoopbackServer {
                whole.add($0.body)
                return .response(body: "ok")
            }
            defer { server.stop() }
            let body = URLClient.UploadBody.stream(length: length) {
                AsyncStream { continuation in
                    for text in texts { continuation.yield(Data(text.utf8)) }
                    continuation.finish()
                }
            }
            let failure = await URLClient.fresh().upload(server.url("/"), from: body).failure()
            #expect(
                "\(try #require(failure))".contains("announced length is \(length)"),
                "\(String(describing: failure))"
            )
            #expect(
                (failure as? URLClientError).map { if case .invalidRequest = $0.code { true } else { false } } == true
            )
            #expect(whole.entries == [])
        }

        @Test func `a sequence that throws fails the request with its error, once`() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let opened = Log<Void>()
            let client = URLClient.fresh { $0.retries.attempts = 3 }
            let body = URLClient.UploadBody.stream {
                opened.add(())
                return AsyncThrowingStream<Data, any Error> { continuation in
                    continuation.yield(Data("a".utf8))
                    continuation.finish(throwing: Failure())
                }
            }
            let failure = await client.upload(Self.put(server.url("/")), from: body).failure()
            #expect(failure is Failure && opened.entries.count == 1)
        }

        @Test func `a sequence is cancelled when its request ends`() async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let (asked, cancelled, never) = (Deferred<Void>(), Deferred<Void>(), Deferred<Void>())
            let bytes = AsyncStream<Data> {
                asked.fill()
                // Until it is cancelled.
                try? await never.get()
                return nil
            } onCancel: {
                cancelled.fill()
            }
            let client = URLClient.fresh()
            let task = client.upload(server.url("/"), from: .stream(bytes))
            await asked.future.value
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
            // The sequence itself is still there: only its reader is cancelled.
            await cancelled.future.value
            try await eventually { client.transport.transferCount == 0 }
        }

        #if os(Linux)
        @Test func `the bytes go out before the sequence has ended`() async throws {
            let port = try PromptedPort()
            let (bytes, continuation) = AsyncStream.makeStream(of: Data.self)
            let client = URLClient.fresh { $0.engine = .libcurl }
            let task = client.upload(port.url, from: .stream(bytes))
            port.receiveRequest()
            for text in ["a", "bc"] {
                continuation.yield(Data(text.utf8))
                // As one chunk, with its length in front.
                port.receive(text.utf8.count + 5)
            }
            continuation.finish()
            port.receive(5)
            port.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            #expect(try await task.text() == "ok")
        }

        @Test(.enabled(if: isLibcurlTested), arguments: ["length", "chunks", "gzip", "trailers"])
        func `a stream ends with its response, and the body of the request goes on to its own end`(kind: String)
            async throws
        {
            let script: LoopbackServer.Script =
                switch kind {
                case "length": .response(body: "done")
                case "gzip": .response(headers: ["Content-Encoding": "gzip"], body: .bytes(Self.gzipped))
                default: .chunked(["do", "ne"], trailers: kind == "trailers" ? ["X-Sum": "4"] : [:])
                }
            let server = try LoopbackServer(
                beforeBody: { _ in script + [.receive(1_000)] },
                respond: { _ in .response(body: "next") }
            )
            defer { server.stop() }
            let ends = Log<Bool>()
            let client = URLClient.fresh {
                $0.monitor = { if case .finished(let error) = $0.kind { ends.add(error == nil) } }
            }
            let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
            sender.yield(Data("a".utf8))
            let response = try await client.stream(Self.put(server.url("/")), from: .stream(bytes)).get()
            #expect(try await response.body.collect() == Data("done".utf8))
            #expect(response.body.trailers == (kind == "trailers" ? ["X-Sum": "4"] : [:]) && ends.entries.isEmpty)
            sender.yield(Data("b".utf8))
            sender.finish()
            try await eventually { ends.entries == [true] }
            #expect(server.requests.map(\.body.count) == [0])
            try await eventually { client.transport.requestCount == 0 }
        }

        private static let gzipped = Data([
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 75, 201, 207, 75, 5, 0, 171, 224, 45, 16, 4, 0, 0, 0,
        ])

        private static let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ndo\r\n"

        private static let closing: [(script: LoopbackServer.Script, status: Int?)] = [
            ([], nil), (.raw("HTTP/1.1 200"), nil), (.response(body: "do", contentLength: 4), nil),
            (.raw("\(chunk)"), nil),
            (.raw("\(chunk)no\r\n"), nil), (.response(body: "done", contentLength: 4), 200), (.response(204), 200),
            (.raw("HTTP/1.1 200 OK\r\n\r\ndone"), 200), (.raw("HTTP/1.1 404 No\r\n\r\ndone"), 404),
            (.response(500, body: "done"), 500),
        ]

        /// The server closes the connection while the sequence makes nothing, at once or when its bytes were read.
        @Test(.enabled(if: isLibcurlTested), arguments: closing, [false, true])
        func `a connection that the server closes ends the request, with the response if that is whole`(
            row: (script: LoopbackServer.Script, status: Int?),
            isLate: Bool
        ) async throws {
            let script = row.script + (isLate ? [.pause(.milliseconds(30)), .close] : [.close])
            let server = try LoopbackServer(beforeBody: { _ in [.receive(1)] + script }, respond: { _ in [] })
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.deadlines.idle = .noLimit
                $0.retries = .none
            }
            for isStream in [false, true] {
                let cancelled = Deferred<Void>()
                let bytes = AsyncStream<Data> { continuation in
                    continuation.onTermination = { _ in cancelled.fill() }
                    continuation.yield(Data("a".utf8))
                }
                let request = Self.put(server.url("/"))
                var body: Data?
                var failure: (any Error)?
                do {
                    if isStream {
                        body = try await client.stream(request, from: .stream(bytes)).get().body.collect()
                    } else {
                        body = try await client.upload(request, from: .stream(bytes)).get().0
                    }
                } catch {
                    failure = error
                }
                switch row.status {
                case 200:
                    #expect(failure == nil && ["", "done"].contains(body.map { String(decoding: $0, as: UTF8.self) }))
                case let status?: #expect((failure as? URLClientError)?.head?.status.code == status)
                case nil: #expect(failure is URLError || failure is URLClientError, "\(String(describing: body))")
                }
                try await cancelled.get()
            }
            try await eventually { client.transport.requestCount == 0 }
        }

        @Test(.enabled(if: isLibcurlTested))
        func `a response in chunks that was whole stays so when the connection is closed later`() async throws {
            let closed = Deferred<Void>()
            let server = try LoopbackServer(
                beforeBody: { _ in .raw("\(Self.chunk)0\r\n\r\n") + [.pause(.milliseconds(100)), .close] },
                respond: { _ in [] }
            )
            defer { server.stop() }
            let client = URLClient.fresh { $0.deadlines.idle = .noLimit }
            let bytes = AsyncStream<Data> { continuation in
                continuation.onTermination = { _ in closed.fill() }
                continuation.yield(Data("a".utf8))
            }
            #expect(try await client.upload(Self.put(server.url("/")), from: .stream(bytes)).text() == "do")
            try await closed.get()
        }

        @Test func `the response may come before the sequence has ended, and ends the request if it is an error`()
            async throws
        {
            let port = try PromptedPort()
            let (bytes, continuation) = AsyncStream.makeStream(of: Data.self)
            continuation.yield(Data("a".utf8))
            let client = URLClient.fresh {
                $0.engine = .libcurl
                $0.validation = .any
            }
            let task = client.upload(port.url, from: .stream(bytes))
            port.receiveRequest()
            port.receive(6)
            port.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
            #expect(await task.ending() == .status(403))
            continuation.finish()
        }

        /// Zeros without an end, and the number of those that were made.
        private final class Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
            private let made = Atomic(0)
            var count: Int { made.load(ordering: .relaxed) }

            func next() async -> Data? {
                made.add(16 << 10, ordering: .relaxed)
                return Data(count: 16 << 10)
            }

            func makeAsyncIterator() -> Endless { self }
        }

        @Test func `a sequence makes no more than is sent`() async throws {
            let port = try PromptedPort()
            let bytes = Endless()
            let client = URLClient.fresh { $0.engine = .libcurl }
            let task = client.upload(port.url, from: .stream(bytes))
            port.receiveRequest()
            // The server reads nothing: what is made fits into the buffers of the system and of the client.
            var (made, quiet) = (0, 0)
            try await eventually {
                (made, quiet) = (bytes.count, bytes.count == made ? quiet + 1 : 0)
                return quiet > 200
            }
            #expect(made < 32 << 20)
            port.receive(8 << 20)
            try await eventually { bytes.count > made }
            task.cancel()
            #expect(await task.ending() == .url(.cancelled))
        }
        #endif
    }
}
