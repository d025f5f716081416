#if os(Linux)
import DeferredCore
import DeferredTask
import Foundation
import FoundationNetworking
import TestSupport
import Testing

@testable import DeferredNetworking

private let hasServer = ProcessInfo.processInfo.environment["DEFERRED_NGINX_CA"] != nil

/// Tests of features that only clients over libcurl have with nginx, in addition to `RealServerTests`.
@Suite("Real server, over libcurl", .ownThreadInSeries, .serialized, .timeLimit(.minutes(3)), .enabled(if: hasServer))
struct RealServerLibcurlTests {
    private let environment = ProcessInfo.processInfo.environment

    private func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        URLClient.fresh {
            $0.engine = .libcurl
            $0.tls.authorities = .file(URL(filePath: environment["DEFERRED_NGINX_CA"] ?? ""))
            change(&$0)
        }
    }

    private func url(_ path: String, isSecure: Bool = true) throws -> URL {
        let address = environment[isSecure ? "DEFERRED_NGINX_SECURE" : "DEFERRED_NGINX"] ?? ""
        return try #require(URL(string: address + path))
    }

    @Test func `two hundred requests at once share one connection of HTTP/2`() async throws {
        let metrics = Log<URLClient.Metrics>()
        let client = client {
            // Otherwise, streams beyond the server's limit would open other connections.
            $0.maximumConnectionsPerHost = 1
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        let target = try url("/1k")
        let tasks = (0..<200).map { _ in client.begin(target) }
        for task in tasks { #expect(try await task.get().0.count == 1_024) }
        #expect(metrics.entries.allSatisfy { $0.protocolVersion == "HTTP/2" && $0.address.hasPrefix("127.0.0.1:") })
        #expect(metrics.entries.count { !$0.isReused } == 1)
    }

    @Test(arguments: [("GET", 0), ("POST", 0), ("POST", 100), ("PUT", 50_000)])
    func `a server that closes connections after a while answers all requests`(method: String, size: Int) async throws {
        let client = client { $0.retries = .init() }
        let target = try #require(URL(string: environment["DEFERRED_NGINX_AGING"] ?? ""))
        let request = URLRequest(target) {
            $0.httpMethod = method
            if size > 0 { $0.httpBody = Data(count: size) }
        }
        for _ in 1...20 {
            let tasks = (1...100).map { _ in client.begin(request) }
            for task in tasks { #expect(await task.ending() == .status(200)) }
        }
        await client.shutdown().value
    }

    @Test func `a connection of HTTP/2 that died in silence is given to no other request`() async throws {
        let metrics = Log<URLClient.Metrics>()
        let secure = try #require(try url("/1k").port.flatMap { UInt16(exactly: $0) })
        let port = try DyingPort(to: secure)
        let target = try #require(URL(string: "https://127.0.0.1:\(port.number)/1k"))
        let client = client {
            $0.maximumThreads = 1
            $0.deadlines.idle = .milliseconds(1_500)
            $0.retries.attempts = 2
            $0.retries.base = .zero
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        for _ in 0..<2 { _ = try await client.begin(target).get() }
        port.die()
        // Its deadline is its own: another one has taken the connection out of use long before.
        var options = URLClient.RequestOptions()
        options.idle = .seconds(4)
        let patient = client.begin(URLRequest(url: target), options: options)
        for _ in 0..<20 { #expect(try await client.begin(target).get().0.count == 1_024) }
        #expect(port.count == 2)
        #expect(await patient.ending() == .status(200))
        #expect(metrics.entries.allSatisfy { $0.protocolVersion == "HTTP/2" } && port.count == 2)
        await client.shutdown().value
    }

    @Test func `redirects at once on one connection of HTTP/2 are all followed`() async throws {
        let client = client()
        let target = try url("/moved")
        let tasks = (0..<300).map { _ in client.begin(target) }
        for task in tasks { #expect(try await task.get().0.count == 1_024) }
    }

    @Test func `HTTP/1.1 is used if no other version is allowed`() async throws {
        let metrics = Log<URLClient.Metrics>()
        let client = client {
            $0.httpVersion = .http1_1
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        _ = try await client.begin(url("/1k")).get()
        #expect(metrics.entries.map(\.protocolVersion) == ["HTTP/1.1"] && metrics.entries[0].tlsHandshake > .zero)
    }

    @Test func `streams that are held cost no more than their limit, and hold up nobody`() async throws {
        let metrics = Log<URLClient.Metrics>()
        let client = client {
            $0.streamBufferLimit = 64 << 10
            $0.monitor = { event in event.metrics.map { metrics.add($0) } }
        }
        _ = try await client.begin(url("/1k")).get()
        let before = residentMemory()
        var streams: [StreamingResponse] = []
        for _ in 0..<8 { streams.append(try await client.stream(url("/fast/1g")).get()) }
        // The server is paused above half of so small a limit, which two or three records of TLS may reach.
        try await eventually { streams.allSatisfy { $0.body.waitingCount > 32 << 10 } }
        for _ in 0..<20 { #expect(try await client.begin(url("/1k")).get().0.count == 1_024) }
        #expect(streams.allSatisfy { $0.body.waitingCount <= (64 << 10) + (1 << 20) })
        #expect(isSanitized || residentMemory() - before < 24 << 20, "\((residentMemory() - before) >> 20) MiB")
        #expect(metrics.entries.count == 21 && metrics.entries.allSatisfy { $0.protocolVersion == "HTTP/2" })
        client.cancelAll()
        for try await _ in try await client.stream(url("/1k")).get().body {}
        try await eventually { metrics.entries.last?.protocolVersion == "HTTP/1.1" }
    }

    @Test func `a certificate is trusted with its authority only, and a key with its pin only`() async throws {
        let target = try url("/1k")
        let other = client {
            $0.tls.authorities = .file(URL(filePath: environment["DEFERRED_NGINX_OTHER_CA"] ?? ""))
        }
        #expect(await other.begin(target).ending() == .url(.serverCertificateUntrusted))
        let authority = try Data(contentsOf: URL(filePath: environment["DEFERRED_NGINX_CA"] ?? ""))
        let inMemory = client { $0.tls.authorities = .data(authority) }
        #expect(await inMemory.begin(target).ending() == .status(200))
        let pinned = client { $0.tls.pinnedPublicKeys = [Data(count: 32)] }
        #expect(await pinned.begin(target).ending() == .url(.serverCertificateUntrusted))
        let modern = client { $0.tls.minimumVersion = .v1_3 }
        #expect(await modern.begin(target).ending() == .status(200))
    }

    @Test func `a gibibyte goes up in bounded memory`() async throws {
        await #expect(processExitsWith: .success) {
            let tests = RealServerLibcurlTests()
            let folder = try TemporaryDirectory()
            let file = folder.file
            #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
            try FileHandle(forWritingTo: file).truncate(atOffset: 1 << 30)
            for isSecure in [true, false] {
                let before = residentMemory()
                let put = URLRequest(try tests.url("/echo", isSecure: isSecure)) { $0.httpMethod = "PUT" }
                #expect(try await tests.client().upload(put, from: .file(file)).text() == "PUT \(1 << 30)")
                #expect(isSanitized || residentMemory() - before < 64 << 20)
            }
        }
    }

    @Test func `a hundred thousand mixed requests keep descriptors, threads and memory flat`() async throws {
        await #expect(processExitsWith: .success) {
            let tests = RealServerLibcurlTests()
            let client = tests.client { $0.maximumConnectionsPerHost = 32 }
            let urls = try ["/1k", "/none", "/moved", "/echo", "/private/1k"].map { try tests.url($0, isSecure: false) }
            let secure = try tests.url("/1k")
            /// Makes one request of a mix, and returns true if it ended as expected.
            func request(_ number: Int) async -> Bool {
                switch number % 16 {
                case 0: return await client.begin(secure).ending() == .status(200)
                case 1, 2: return await client.begin(urls[1]).ending() != .status(200)
                case 3, 4: return await client.begin(urls[2]).ending() == .status(200)
                case 5, 6:
                    let put = URLRequest(urls[3]) { $0.httpMethod = "PUT" }
                    return await client.upload(put, from: .data(Data(count: 1_000))).ending() == .status(200)
                case 7: return await client.begin(urls[4]).ending() != .status(200)
                case 8, 9:
                    let task = client.begin(urls[0])
                    await giveWay(turns: number % 50) { true }
                    task.cancel()
                    let ending = await task.ending()
                    return ending == .url(.cancelled) || ending == .status(200)
                default: return await client.begin(urls[0]).ending() == .status(200)
                }
            }
            func send(_ numbers: Range<Int>) async -> Int {
                await withTaskGroup { group in
                    for worker in 0..<64 {
                        group.addTask {
                            var count = 0
                            for number in stride(from: numbers.lowerBound + worker, to: numbers.upperBound, by: 64)
                            where await request(number) {
                                count += 1
                            }
                            return count
                        }
                    }
                    return await group.reduce(0, +)
                }
            }
            func entries(of folder: String) -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count) ?? 0
            }
            let first = await send(0..<20_000)
            let before = (entries(of: "fd"), entries(of: "task"), residentMemory())
            let others = await send(20_000..<100_000)
            precondition(first == 20_000 && others == 80_000, "\(first) and \(others)")
            let after = (entries(of: "fd"), entries(of: "task"), residentMemory())
            try await eventually { client.transport.requestCount == 0 && client.transport.transferCount == 0 }
            print("before \(before), after \(after)")
            // The numbers of connections and of the concurrency pool's threads vary.
            precondition(after.0 <= before.0 + 32 && after.1 <= before.1 + 4)
            precondition(isSanitized || after.2 - before.2 < 8 << 20)
        }
    }

    @Test func `a server whose processes are killed serves the next requests`() async throws {
        let client = client {
            $0.retries = URLClient.Retries()
            $0.retries.clock = NotingClock()
            $0.retries.attempts = 50
        }
        let master = try String(contentsOfFile: environment["DEFERRED_NGINX_PID"] ?? "", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        for round in 0..<4 {
            let target = try url("/1k", isSecure: round % 2 == 0)
            let tasks = (0..<100).map { _ in client.begin(target) }
            let children = try String(contentsOfFile: "/proc/\(master)/task/\(master)/children", encoding: .utf8)
            for child in children.split(separator: " ").compactMap({ pid_t($0) }) { kill(child, SIGKILL) }
            for task in tasks { #expect(try await task.get().0.count == 1_024) }
        }
    }
}
#endif
