import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The addresses of nginx, if it is running.
private enum Nginx {
    static let plain = ProcessInfo.processInfo.environment["DEFERRED_NGINX"]
    static let secure = ProcessInfo.processInfo.environment[
        isLibcurlTested ? "DEFERRED_NGINX_SECURE" : "DEFERRED_NGINX_TLS"
    ]
    static let authority = ProcessInfo.processInfo.environment["DEFERRED_NGINX_CA"]

    /// Returns a client that trusts nginx's certificate.
    static func client(_ change: (inout URLClient.Configuration) -> Void = { _ in }) -> URLClient {
        URLClient.fresh {
            if isLibcurlTested, let authority { $0.tls.authorities = .file(URL(filePath: authority)) }
            change(&$0)
        }
    }

    static let addresses = [plain, secure].compactMap { $0 }
}

/// Requests to nginx, whose address `Tests/RealServers/run` puts into the environment. Without it, they are skipped.
@Suite("Real server", .serialized, .ownThreadInSeries, .timeLimit(.minutes(5)), .enabled(if: Nginx.plain != nil))
struct RealServerTests {
    private func url(_ path: String, at address: String? = Nginx.plain) throws -> URL {
        try #require(URL(string: (address ?? "") + path))
    }

    @Test(arguments: Nginx.addresses)
    func `twenty thousand requests, 64 in flight, end well`(address: String) async throws {
        let client = Nginx.client {
            $0.maximumConnectionsPerHost = 64
            $0.maximumRequestsInFlight = 64
        }
        let target = try url("/1k", at: address)
        let tasks = (0..<20_000).map { _ in client.begin(target) }
        var count = 0
        for task in tasks {
            count += try await task.get().0.count
        }
        #expect(count == 20_000 * 1_024)
        await client.shutdown().value
    }

    @Test(arguments: Nginx.addresses)
    func `redirects, compression, uploads and credentials work`(address: String) async throws {
        let client = Nginx.client { $0.authentication = .basic(user: "me", password: "secret") }
        #expect(try await client.begin(url("/moved", at: address)).get().0.count == 1_024)
        let (text, response) = try await client.begin(url("/text.txt", at: address)).get()
        #expect(text.count == 2_000_000)
        #expect(response.value(of: "Content-Encoding") == "gzip")
        let put = URLRequest(try url("/echo", at: address), { $0.httpMethod = "PUT" })
        #expect(try await client.upload(put, from: .data(Data(count: 100_000))).text() == "PUT 100000")
        let folder = try TemporaryDirectory()
        try Data(count: 3_000_000).write(to: folder.file)
        #expect(try await client.upload(put, from: .file(folder.file)).text() == "PUT 3000000")
        #expect(try await client.begin(url("/private/1k", at: address)).get().0.count == 1_024)
        let wrong = Nginx.client { $0.authentication = .basic(user: "me", password: "wrong") }
        guard
            case .client(let error) = await wrong.begin(try url("/private/1k", at: address)).ending(),
            case .unacceptableStatus(401, _) = error.code
        else {
            Issue.record("not refused")
            return
        }
    }

    @Test func `a download is resumed with a range`() async throws {
        let folder = try TemporaryDirectory()
        let client = Nginx.client()
        let request = URLRequest(url: try url("/1g"))
        let first = client.download(request, to: folder.file)
        while first.progress.fractionCompleted < 0.1 { await _Concurrency.Task.yield() }
        first.cancel()
        _ = await first.failure()
        try await eventually { client.transport.transferCount == 0 }
        let (file, response) = try await client.download(request, to: folder.file).get()
        #expect(response.status == 206)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int64
        #expect(size == 1 << 30)
        #expect(try folder.contents() == ["file"])
    }

    #if os(macOS) || os(Linux)
    /// Alone: over URLSession, what the process is too slow to take piles up in memory.
    @Test(.alone) func `a gibibyte is downloaded and streamed in bounded memory`() async throws {
        await #expect(processExitsWith: .success) {
            let address = ProcessInfo.processInfo.environment["DEFERRED_NGINX"] ?? ""
            let client = Nginx.client()
            let url = try #require(URL(string: address + "/1g"))
            var request = URLRequest(url: url)
            // The server's rate is that of the compressed bytes, which URLSession would decode without back pressure.
            if !isLibcurlTested { request.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
            var count: Int64 = 0
            var peak = 0
            for try await bytes in try await client.stream(request).get().body {
                count += Int64(bytes.count)
                peak = max(peak, residentMemory())
            }
            let folder = try TemporaryDirectory()
            let download = client.download(URLRequest(url: url), to: folder.file)
            while download.peek() == nil {
                peak = max(peak, residentMemory())
                await _Concurrency.Task.yield()
            }
            _ = try await download.get()
            print("peak \(peak >> 20) MiB")
            precondition(count == 1 << 30)
            precondition(isSanitized || peak < (isLibcurlTested ? 60 : 150) << 20, "peak \(peak >> 20) MiB")
        }
    }
    #endif
}
