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
    /// Uploads that go on where they broke off: draft-ietf-httpbis-resumable-upload.
    @Suite("Resumed uploads", .enabled(if: isLibcurlTested))
    struct ResumedUploads {
        /// A server that keeps what has come of an upload, and breaks off after so many bytes of each request.
        private final class Uploads: Sendable {
            let received = Lock(Data())
            let breaks: Lock<[Int]>
            let location: String

            init(breakingAfter breaks: [Int], location: String = "/uploads/1") {
                self.breaks = Lock(breaks)
                self.location = location
            }

            /// - Parameter refuse: Returns another answer to a request, if it gets one.
            func start(
                refusing refuse: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Script? = { _ in nil }
            ) throws -> LoopbackServer {
                try LoopbackServer(
                    beforeBody: { request in
                        if let refusal = refuse(request) { return refusal }
                        guard request.method != "HEAD", let count = self.breaks.withLock({ $0.first }) else {
                            return nil
                        }
                        self.breaks.withLock { _ = $0.removeFirst() }
                        let offer: LoopbackServer.Script =
                            request.method == "PATCH" ? [] : .response(104, headers: ["Location": self.location])
                        // As many bytes as it reads before it closes the connection count as stored.
                        let offset = request.headers["Upload-Offset"].flatMap { Int($0) } ?? 0
                        self.received.withLock { $0 = $0.prefix(offset) + Self.bytes(offset..<offset + count) }
                        return offer + [.receive(count), .reset]
                    },
                    respond: { request in
                        switch request.method {
                        case "HEAD":
                            let count = self.received.withLock { $0.count }
                            return .response(204, headers: ["Upload-Offset": "\(count)", "Upload-Complete": "?0"])
                        case "PATCH":
                            let offset = request.headers["Upload-Offset"].flatMap { Int($0) } ?? -1
                            self.received.withLock { $0 = $0.prefix(offset) + request.body }
                            return .response(201, body: "done")
                        default:
                            self.received.withLock { $0 = request.body }
                            return .response(body: "at once")
                        }
                    }
                )
            }

            static func bytes(_ range: Range<Int>) -> Data { Data(range.map { UInt8(truncatingIfNeeded: $0 * 7) }) }
        }

        private static let length = 1_500_000
        private static let options = URLClient.RequestOptions(resumesUpload: true)

        private static func post(_ url: URL) -> URLRequest {
            URLRequest(url) {
                $0.httpMethod = "POST"
                $0.setValue("secret", forHTTPHeaderField: "Authorization")
                $0.setValue("image/png", forHTTPHeaderField: "Content-Type")
            }
        }

        private static func client(attempts: Int = 4) -> URLClient {
            .fresh {
                $0.retries.attempts = attempts
                $0.retries.base = .milliseconds(1)
            }
        }

        @Test(arguments: [false, true], [[], [1_000_000], [500_000, 1], [0, 0, 700_000]])
        func `what has arrived is not sent again`(isFile: Bool, breaks: [Int]) async throws {
            let uploads = Uploads(breakingAfter: breaks)
            let server = try uploads.start()
            defer { server.stop() }
            let bytes = Uploads.bytes(0..<Self.length)
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "body")
            try bytes.write(to: file)
            let task = Self.client().upload(
                Self.post(server.url("/files")),
                from: isFile ? .file(file) : .data(bytes),
                options: Self.options
            )
            let (data, head) = try await task.get()
            #expect(data == Data((breaks.isEmpty ? "at once" : "done").utf8))
            #expect(head.status == (breaks.isEmpty ? 200 : 201))
            #expect(uploads.received.withLock { $0 } == bytes)
            #expect(task.progress.fractionCompleted == 1)
            let requests = server.requests
            #expect(
                requests[0].headers["Upload-Complete"] == "?1" && requests[0].headers["Content-Type"] == "image/png"
            )
            for request in requests.dropFirst() {
                #expect(request.path == "/uploads/1" && request.headers["Authorization"] == "secret")
                if request.method == "PATCH" {
                    #expect(request.headers["Content-Type"] == "application/partial-upload")
                    #expect(request.headers["Upload-Complete"] == "?1")
                }
            }
            #expect(requests.map(\.method) == ["POST"] + breaks.flatMap { _ in ["HEAD", "PATCH"] })
        }

        @Test func `each request of an upload has an answer of its own to a Digest challenge`() async throws {
            let nonce = #"realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
            let uploads = Uploads(breakingAfter: [500_000])
            let server = try uploads.start { request in
                request.headers["Authorization"] == nil
                    ? .response(401, headers: ["WWW-Authenticate": "Digest \(nonce)"], body: "denied") : nil
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.base = .milliseconds(1)
                $0.authentication = .digest(user: "me", password: "secret")
            }
            var request = URLRequest(url: server.url("/files"))
            request.httpMethod = "POST"
            let bytes = Uploads.bytes(0..<Self.length)
            #expect(try await client.upload(request, from: .data(bytes), options: Self.options).text() == "done")
            let answered = server.requests.filter { $0.headers["Authorization"] != nil }
            #expect(answered.map(\.method) == ["POST", "HEAD", "PATCH"])
            let challenge = DigestChallenge(
                AuthenticationChallenge.challenges(in: ["WWW-Authenticate": "Digest \(nonce)"])[0]
            )
            for request in answered {
                let field = try #require(request.headers["Authorization"])
                let sent = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": field])[0]
                let expected = challenge?.field(
                    user: "me",
                    password: "secret",
                    method: request.method,
                    target: request.target,
                    count: UInt32(sent["nc"] ?? "", radix: 16) ?? 0,
                    clientNonce: sent["cnonce"] ?? "",
                    body: { nil }
                )
                #expect(field == expected, "\(request.method)")
            }
            #expect(uploads.received.withLock { $0 } == bytes)
        }

        @Test func `an upload at another origin is not used, and gets no credentials`() async throws {
            let other = try LoopbackServer { _ in
                .response(204, headers: ["Upload-Offset": "1", "Upload-Complete": "?0"])
            }
            let uploads = Uploads(breakingAfter: [1_000], location: other.url("/uploads/1").absoluteString)
            let server = try uploads.start()
            defer {
                server.stop()
                other.stop()
            }
            let task = Self.client().upload(
                Self.post(server.url("/files")),
                from: .data(Uploads.bytes(0..<Self.length)),
                options: Self.options
            )
            #expect((await task.failure() as? URLError)?.code == .networkConnectionLost)
            #expect(other.requests.isEmpty && server.requests.count == 1)
        }

        @Test func `without an offer, and without attempts, it fails as any other`() async throws {
            let server = try LoopbackServer(beforeBody: { _ in [.receive(1_000), .reset] }, respond: { _ in [] })
            defer { server.stop() }
            let body = URLClient.UploadBody.data(Uploads.bytes(0..<Self.length))
            let task = Self.client().upload(Self.post(server.url("/")), from: body, options: Self.options)
            #expect((await task.failure() as? URLError)?.code == .networkConnectionLost)
            #expect(server.requests.count == 1)

            let uploads = Uploads(breakingAfter: [1_000])
            let offering = try uploads.start()
            defer { offering.stop() }
            let once = Self.client(attempts: 1).upload(Self.post(offering.url("/")), from: body, options: Self.options)
            #expect((await once.failure() as? URLError)?.code == .networkConnectionLost)
            #expect(offering.requests.count == 1)
        }

        @Test(arguments: [["/up", "/up2"], ["http://u:p@HOST/up"], ["http://[bad/"], []])
        func `an offer that names no one place at the request's origin is none`(locations: [String]) async throws {
            let server = try LoopbackServer(
                beforeBody: { request in
                    guard request.method == "POST" else { return nil }
                    let host = request.headers["Host"] ?? ""
                    let fields = locations.map { "Location: \($0.replacingOccurrences(of: "HOST", with: host))\r\n" }
                    return .raw(.text("HTTP/1.1 104 Resumption\r\n\(fields.joined())\r\n")) + [.receive(1_000), .reset]
                },
                respond: { _ in .response(204, headers: ["Upload-Offset": "0"]) }
            )
            defer { server.stop() }
            let body = URLClient.UploadBody.data(Uploads.bytes(0..<Self.length))
            let task = Self.client().upload(Self.post(server.url("/")), from: body, options: Self.options)
            #expect((await task.failure() as? URLError)?.code == .networkConnectionLost)
            #expect(server.requests.map(\.method) == ["POST"])
        }

        @Test func `a success that says it isn't complete is none`() async throws {
            let server = try LoopbackServer(
                beforeBody: { _ in nil },
                respond: { _ in
                    .response(104, headers: ["Location": "/up"])
                        + .response(201, headers: ["Upload-Complete": "?0", "Upload-Offset": "5"])
                }
            )
            defer { server.stop() }
            let body = URLClient.UploadBody.data(Data("0123456789".utf8))
            let error = await Self.client().upload(Self.post(server.url("/")), from: body, options: Self.options)
                .failure()
            #expect("\(error.map { $0.localizedDescription } ?? "")".contains("isn't complete"))
        }

        @Test func `a question that needs another credential doesn't begin the upload anew`() async throws {
            let uploads = Uploads(breakingAfter: [500_000])
            let server = try uploads.start { request in
                request.method == "HEAD" && request.headers["Authorization"] == "Bearer old"
                    ? .response(401, headers: ["WWW-Authenticate": "Bearer"]) : nil
            }
            defer { server.stop() }
            let client = URLClient.fresh {
                $0.retries.attempts = 2
                $0.retries.base = .milliseconds(1)
                $0.authentication = .custom(preemptive: .bearer(token: "old")) { _ in .success(.bearer(token: "new")) }
            }
            let request = URLRequest(server.url("/files")) { $0.httpMethod = "POST" }
            let bytes = Uploads.bytes(0..<Self.length)
            #expect(try await client.upload(request, from: .data(bytes), options: Self.options).text() == "done")
            #expect(server.requests.map(\.method) == ["POST", "HEAD", "HEAD", "PATCH"])
        }

        private static let answers: [(script: LoopbackServer.Script, count: Int, part: String)] = [
            (.response(404), 2, "404"), (.response(503), 4, "503"), (.response(408), 4, "408"),
            (.response(429), 4, "429"),
            (.response(204, headers: ["Upload-Offset": "9", "Upload-Complete": "?1"]), 2, "has all of the body"),
            (.response(204, headers: ["Upload-Complete": "?0"]), 2, "how much"),
            (.response(204, headers: ["Upload-Offset": "99999999999"]), 2, "how much"),
            (.response(204, headers: ["Upload-Offset": "-1"]), 2, "how much"),
            (.response(204, headers: ["Upload-Offset": "x"]), 2, "how much"),
        ]

        @Test(arguments: answers)
        func `an answer that is none ends the upload`(script: LoopbackServer.Script, count: Int, part: String)
            async throws
        {
            let server = try LoopbackServer(
                beforeBody: {
                    $0.method == "POST" ? .response(104, headers: ["Location": "up"]) + [.receive(1_000), .reset] : nil
                },
                respond: { _ in script }
            )
            defer { server.stop() }
            let body = URLClient.UploadBody.data(Uploads.bytes(0..<Self.length))
            let error = await Self.client().upload(Self.post(server.url("/a/b")), from: body, options: Self.options)
                .failure()
            #expect("\(error.map { $0.localizedDescription } ?? "")".contains(part))
            #expect(server.requests.count == count && server.requests.last?.path == "/a/up")
        }

        @Test func `a cancelled upload is not resumed`() async throws {
            let server = try LoopbackServer(
                beforeBody: { _ in .response(104, headers: ["Location": "/up"]) + [.stall] },
                respond: { _ in .response(204) }
            )
            defer { server.stop() }
            let offered = Deferred<Void>()
            var options = Self.options
            options.onInterimResponse = { _ in offered.fill(with: ()) }
            let body = URLClient.UploadBody.data(Uploads.bytes(0..<Self.length))
            let task = Self.client().upload(Self.post(server.url("/")), from: body, options: options)
            try await offered.get()
            task.cancel()
            #expect((await task.failure() as? URLError)?.code == .cancelled)
            #expect(server.requests.count <= 1)
        }

        @Test func `a stream, a part of a file and URLSession are refused`() async throws {
            let url = URL(string: "http://127.0.0.1:1/")!
            let stream = URLClient.UploadBody.stream { AsyncStream<Data> { $0.finish() } }
            let error = await Self.client().upload(Self.post(url), from: stream, options: Self.options).failure()
            #expect("\(String(describing: error))".contains("whole file"))
            let session = URLClient.fresh { $0.engine = .urlSession }
            let refused = await session.upload(Self.post(url), from: .data(Data("a".utf8)), options: Self.options)
                .failure()
            #expect("\(String(describing: refused))".contains("libcurl"))
        }
    }

    @Suite("Parts of files")
    struct PartsOfFiles {
        @Test func `parts are sent at once, each with its length, and again for another attempt`() async throws {
            let server = try LoopbackServer { .response($0.number == 1 ? 503 : 200, body: "ok") }
            defer { server.stop() }
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "body")
            let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) })
            try bytes.write(to: file)
            let client = URLClient.fresh { $0.retries.attempts = 2 }
            let ranges: [Range<Int64>] = [0..<300_000, 300_000..<999_999, 999_999..<1_000_000, 5..<5]
            let tasks = ranges.map { range in
                let request = URLRequest(server.url("/\(range.lowerBound)")) { $0.httpMethod = "PUT" }
                return client.upload(request, from: .file(file, range: range))
            }
            for task in tasks { _ = try await task.get() }
            for range in ranges {
                let sent = server.requests.filter { $0.path == "/\(range.lowerBound)" }
                #expect(!sent.isEmpty)
                for request in sent {
                    #expect(request.body == bytes[Int(range.lowerBound)..<Int(range.upperBound)])
                    #expect(request.headers["Content-Length"] == "\(range.count)")
                }
            }
            #expect(server.requests.count == 5)
        }

        private static let absent: [(String, Range<Int64>)] = [
            ("body", 0..<11), ("body", 10..<12), ("none", 0..<1), ("", 0..<1), ("body", Int64.min..<Int64.max),
            ("body", -5..<5), ("body", -5..<(-5)), ("body", 11..<11), ("body", (Int64.max - 1)..<Int64.max),
            ("none", 0..<0), ("", 0..<0),
        ]

        @Test(arguments: absent)
        func `a part that isn't there fails the request`(name: String, range: Range<Int64>) async throws {
            let server = try LoopbackServer { _ in .response(body: "ok") }
            defer { server.stop() }
            let directory = try TemporaryDirectory()
            try Data("0123456789".utf8).write(to: directory.url.appending(path: "body"))
            let request = URLRequest(server.url("/")) { $0.httpMethod = "PUT" }
            let client = URLClient.fresh { $0.retries = .none }
            let file = directory.url.appending(path: name)
            let error = await client.upload(request, from: .file(file, range: range)).failure()
            guard case .invalidRequest? = (error as? URLClientError)?.code else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(server.requests.isEmpty)
        }
    }
}
