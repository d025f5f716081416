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

extension URLClientTests {
    @Suite("Uploading")
    struct Upload {
        enum Kind: CaseIterable {
            case data, file, stream
        }

        private func body(_ kind: Kind, _ bytes: Data, in folder: TemporaryDirectory) throws -> URLClient.UploadBody {
            switch kind {
            case .data: return .data(bytes)
            case .file:
                try bytes.write(to: folder.file)
                return .file(folder.file)
            case .stream: return .stream { InputStream(data: bytes) }
            }
        }

        private func post(_ url: URL) -> URLRequest {
            URLRequest(url) {
                $0.httpMethod = "POST"
                $0.httpBody = Data("to be replaced".utf8)
            }
        }

        enum Way: CaseIterable {
            case whole, throughCache, streamed
        }

        @Test(arguments: [20, 3_000_000], Way.allCases)
        func `an upload succeeds though the server meets no expectation`(size: Int, way: Way) async throws {
            for method in ["PUT", "POST"] { try await upload(size, method, way) }
        }

        private func upload(_ size: Int, _ method: String, _ way: Way) async throws {
            let server = try LoopbackServer(
                beforeBody: { $0.headers["Expect"] == nil ? nil : .response(417, body: "no") },
                respond: { .response(body: "\($0.method) \($0.body.count)") }
            )
            defer { server.stop() }
            let request = URLRequest(server.url("/")) {
                $0.httpMethod = method
                $0.setValue("100-continue", forHTTPHeaderField: "Expect")
            }
            let client = URLClient.fresh { if way == .throughCache { $0.responseCache = PassingCache() } }
            let body = URLClient.UploadBody.data(Data(count: size))
            let data =
                way == .streamed
                ? try await client.stream(request, from: body).get().body.collect()
                : try await client.upload(request, from: body).get().0
            #expect(data == Data("\(method) \(size)".utf8))
        }

        /// Starts a server that answers before an expected body, and then waits for that.
        private func server(answeringExpectationsWith status: String) throws -> LoopbackServer {
            let early: LoopbackServer.Script = [
                .send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok"), .stall,
            ]
            return try LoopbackServer(
                beforeBody: { $0.headers["Expect"] == nil ? nil : early },
                respond: { .response(body: "\($0.method) \($0.body.count)") }
            )
        }

        @Test(arguments: [20, 3_000_000], ["PUT", "POST"])
        func `after such a refusal, the connection that still waits for a body gets no request`(
            size: Int,
            method: String
        ) async throws {
            let server = try server(answeringExpectationsWith: "417 No")
            defer { server.stop() }
            let request = URLRequest(server.url("/")) {
                $0.httpMethod = method
                $0.setValue("100-continue", forHTTPHeaderField: "Expect")
                $0.timeoutInterval = 20
            }
            let client = URLClient.fresh()
            let task = client.upload(request, from: .data(Data(count: size)))
            #expect(try await task.text() == "\(method) \(size)")
            #expect(try await client.upload(post(server.url("/")), from: .data(Data(count: 5))).text() == "POST 5")
            if isLibcurlTested {
                #expect(server.requests.count == 3 && server.requests.count { $0.connectionNumber == 1 } == 1)
            }
        }

        @Test(
            .enabled(if: isLibcurlTested, "Foundation sends no expectation"),
            arguments: [20, 3_000_000],
            ["200 OK", "201 Created"]
        )
        func `a connection on which the server has answered before an expected body gets no request`(
            size: Int,
            status: String
        ) async throws {
            let server = try server(answeringExpectationsWith: status)
            defer { server.stop() }
            let request = URLRequest(server.url("/")) {
                $0.httpMethod = "POST"
                $0.setValue("100-continue", forHTTPHeaderField: "Expect")
            }
            let client = URLClient.fresh()
            let first = try await client.upload(request, from: .data(Data(count: size))).text()
            #expect(first == "ok")
            #expect(try await client.upload(post(server.url("/")), from: .data(Data(count: 5))).text() == "POST 5")
            #expect(server.requests.map(\.connectionNumber) == [1, 2])
        }

        @Test(arguments: [true, false])
        func `a refusal is told, though its body is cut`(isReset: Bool) async throws {
            let server = try LoopbackServer { _ in
                [.send("HTTP/1.1 413 No\r\nContent-Length: 9\r\n\r\nlarge"), isReset ? .reset : .close]
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh()
            let refusal = URLClientError.unacceptableStatus(code: 413, body: Data("large".utf8))
            let url = server.url("/")
            #expect(await client.upload(post(url), from: .data(Data(count: 5))).failure() as? URLClientError == refusal)
            #expect(
                await client.download(URLRequest(url: url), to: folder.file).failure() as? URLClientError == refusal
            )
            #expect(!FileManager.default.fileExists(atPath: folder.file.path))
            #expect(server.requests.count == 2)
        }

        @Test(.enabled(if: isLibcurlTested))
        func `a refusal is told, though the connection is reset under the upload`() async throws {
            let client = URLClient.fresh()
            var failures: [any Error] = []
            for _ in 0..<300 {
                let port = try PromptedPort()
                let task = client.upload(post(port.url), from: .data(Data(count: 4 << 20)))
                port.receiveRequest()
                port.send("HTTP/1.1 413 No\r\nContent-Length: 5\r\n\r\nlarge")
                port.closeConnection()
                failures.append(try #require(await task.failure()))
            }
            let refusal = URLClientError.unacceptableStatus(code: 413, body: Data("large".utf8))
            let lostCount = failures.count { $0 as? URLClientError != refusal }
            #expect(lostCount == 0)
        }

        @Test(arguments: Kind.allCases)
        func `the body arrives`(kind: Kind) async throws {
            let bytes = LoopbackServer.Payload.patternBytes(0..<200_000)
            let server = try LoopbackServer { .response(body: "\($0.body.count)") }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let task = URLClient.fresh().upload(post(server.url("/")), from: try body(kind, bytes, in: folder))
            #expect(try await task.text() == "200000")
            #expect(server.requests.first?.body == bytes)
        }

        @Test(arguments: Kind.allCases)
        func `it is sent again after a redirect, a challenge and a retry`(kind: Kind) async throws {
            let server = try LoopbackServer { request in
                switch (request.path, request.headers["Authorization"], request.number) {
                case ("/", _, _): .redirect(to: "/next", status: 307)
                case (_, nil, _): .response(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
                case (_, _, ...4): .response(503)
                default: .response(body: .bytes(request.body))
                }
            }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let client = URLClient.fresh {
                $0.retries = URLClient.Retries()
                $0.retries.clock = NotingClock()
                $0.authentication = .basic(user: "me", password: "secret")
            }
            let put = URLRequest(server.url("/")) { $0.httpMethod = "PUT" }
            #expect(try await client.upload(put, from: try body(kind, Data("body".utf8), in: folder)).text() == "body")
            #expect(server.requestCount == 6)
        }

        @Test(arguments: [Kind.data, .file])
        func `progress counts the bytes that were sent`(kind: Kind) async throws {
            let server = try LoopbackServer { _ in .response(body: "thanks") }
            defer { server.stop() }
            let folder = try TemporaryDirectory()
            let bytes = LoopbackServer.Payload.patternBytes(0..<300_000)
            let fractions = Log<Double>()
            let task = URLClient.fresh().upload(post(server.url("/")), from: try body(kind, bytes, in: folder))
            let progress = task.progress
            _ = try await task.get()
            fractions.add(progress.fractionCompleted)
            #expect(fractions.entries == [1])
        }

        @Test func `a body without a method for it, and a file that is not there, are refused`() async throws {
            let client = URLClient.fresh()
            let url = try #require(URL(string: "http://127.0.0.1:9/"))
            for task in [
                client.upload(URLRequest(url: url), from: .data(Data("body".utf8))),
                client.upload(post(url), from: .file(URL(filePath: "/nowhere"))),
                client.upload(post(url), from: .file(url)),
            ] {
                guard case .client(let error) = await task.ending(), case .invalidRequest = error.code else {
                    Issue.record("not refused")
                    continue
                }
            }
        }

        @Test func `five bytes under a Content-Length of two are refused at every door`() async throws {
            let server = try LoopbackServer { _ in .response(body: "1") }
            defer { server.stop() }
            let bytes = Data("hello".utf8)
            let folder = try TemporaryDirectory()
            let file = folder.url.appending(path: "body")
            try bytes.write(to: file)
            let request = URLRequest(server.url("/")) {
                $0.httpMethod = "POST"
                $0.setValue("2", forHTTPHeaderField: "Content-Length")
            }
            let (client, session) = (URLClient.fresh(), URLSession.fresh())
            var failures = [
                await client.upload(request, from: .data(bytes)).failure(),
                await client.upload(request, from: .file(file)).failure(),
                await session.beginUploadTask(with: request, from: bytes).failure(),
                await session.beginUploadTask(with: request, fromFile: file).failure(),
            ]
            if !StreamedLengths.areHonoured {
                failures.append(await client.upload(request, from: .stream { InputStream(data: bytes) }).failure())
            }
            for hasStream in StreamedLengths.areHonoured ? [false] : [false, true] {
                var sent = request
                if hasStream { sent.httpBodyStream = InputStream(data: bytes) } else { sent.httpBody = bytes }
                failures += [
                    await client.begin(sent).failure(),
                    await client.decode(Int.self, from: sent).failure(),
                    await client.stream(sent).failure(),
                    await client.download(sent, to: folder.file).failure(),
                    await session.beginDataTask(with: sent).failure(),
                    await session.beginDownloadTask(with: sent, to: folder.file).failure(),
                ]
            }
            for failure in failures {
                let error = try #require(failure as? URLClientError)
                #expect(error.description.contains("the header Content-Length: 2 c") && error.url == request.url)
            }
            #expect(server.requestCount == 0)
        }

        @Test func `a stream that can't be read isn't sent as an empty body`() async throws {
            let whole = Log<Int>()
            let server = try LoopbackServer {
                whole.add($0.body.count)
                return .response(body: "1")
            }
            defer { server.stop() }
            let (client, session) = (URLClient.fresh(), URLSession.fresh())
            func request(_ stream: InputStream?) -> URLRequest {
                URLRequest(server.url("/")) {
                    $0.httpMethod = "POST"
                    $0.httpBodyStream = stream
                }
            }
            let missing = "/nowhere/at/all"
            let unopened = [
                await client.upload(
                    request(nil),
                    from: .stream { InputStream(fileAtPath: missing) ?? InputStream(data: Data()) }
                )
                .failure(),
                await client.begin(request(InputStream(fileAtPath: missing))).failure(),
                await session.beginDataTask(with: request(InputStream(fileAtPath: missing))).failure(),
            ]
            for failure in unopened {
                let error = try #require(failure as? URLError)
                #expect(error.code == .cannotOpenFile && error.failingURL == server.url("/"))
                #expect(error.userInfo[NSUnderlyingErrorKey] != nil)
            }
            let closed = InputStream(data: Data("hello".utf8))
            closed.open()
            closed.close()
            // SAFETY: used by one request at a time.
            nonisolated(unsafe) let once = InputStream(data: Data("hello".utf8))
            #expect(try await client.upload(request(nil), from: .stream { once }).text() == "1")
            let spent = [
                await client.upload(request(nil), from: .stream { once }).failure(),
                await client.begin(request(closed)).failure(),
                await session.beginDataTask(with: request(closed)).failure(),
            ]
            for failure in spent {
                let error = try #require(failure as? URLClientError)
                #expect(error == BodyStreams.spent && error.url == server.url("/"))
            }
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
            // A head may have been sent, but the body is cut short then.
            #expect(whole.entries == [5])
        }

        @Test(arguments: ["PUT", "POST"])
        func `a stream on a lost connection isn't sent as an empty body`(method: String) async throws {
            let body = Data(repeating: 7, count: 300_000)
            let whole = Log<Data>()
            let server = try LoopbackServer { request in
                guard request.path == "/lost" else { return .response(body: "1") }
                whole.add(request.body)
                return [.close]
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.maximumConnectionsPerHost = 1
                $0.retries = .none
            }
            let session = URLSession.fresh()
            var lost = URLRequest(url: server.url("/lost"))
            lost.httpMethod = method
            for _ in 0..<2 {
                _ = try await client.begin(server.url("/")).get()
                #expect(await client.upload(lost, from: .stream { InputStream(data: body) }).failure() is URLError)
                var single = lost
                single.httpBodyStream = InputStream(data: body)
                _ = try await client.begin(server.url("/")).get()
                #expect(await client.begin(single).failure() is URLError)
                single.httpBodyStream = InputStream(data: body)
                _ = try await session.beginDataTask(with: server.url("/")).get()
                #expect(await session.beginDataTask(with: single).failure() is URLError)
            }
            try await eventually { client.transport.transferCount == 0 }
            #expect(whole.entries.count >= 6 && whole.entries.allSatisfy { $0 == body })
        }

        @Test func `an empty stream on a lost connection is sent once`() async throws {
            let whole = Log<String>()
            let server = try LoopbackServer {
                whole.add($0.path)
                return $0.path == "/lost" ? [.close] : .response(body: "1")
            }
            defer { server.stop() }
            let client = URLClient.fresh { $0.maximumConnectionsPerHost = 1 }
            _ = try await client.begin(server.url("/")).get()
            let post = URLRequest(server.url("/lost")) { $0.httpMethod = "POST" }
            let failure = await client.upload(post, from: .stream { InputStream(data: Data()) }).failure()
            #expect((failure as? URLError)?.code == .requestBodyStreamExhausted)
            try await eventually { client.transport.transferCount == 0 && server.openConnectionCount == 0 }
            #expect(whole.entries == ["/", "/lost"])
        }
    }
}
