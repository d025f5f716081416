import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredCache
@testable import DeferredHTTP

#if os(macOS) || os(Linux)
/// Processes that share a folder, some of which are killed.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskProcessesTests {
    /// Loads, changes and removes at random. Each body tells its path and its version, as does a field.
    ///
    /// - Parameters:
    ///   - rounds: The number of requests.
    ///   - limit: The number of calls of the file system after which the process kills itself.
    /// - Returns: True if all responses were whole, and those that were asked for.
    static func work(in path: String, seed: UInt64, rounds: Int = 120, killedAfter limit: Int? = nil) -> Bool {
        let count = Atomic(0)
        let storage = Cache.Storage { now in
            DiskStore(path, capacity: 2 << 20, now: now) { _ in
                if count.wrappingAdd(1, ordering: .relaxed).newValue == limit { kill(getpid(), SIGKILL) }
                return true
            }
        }
        let stub = StubLoader(answering: { request in
            guard request.method == .get else { return .response(.noContent) }
            let version = Int.random(in: 0..<1_000)
            return .response(
                headers: ["Cache-Control": "max-age=\(version % 3)", "ETag": "\"\(version)\"", "V": "\(version)"],
                data: body(request.path, version)
            )
        })
        let chain = Cache(storage) --> stub
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<rounds {
            let path = "/\(Int.random(in: 0..<8, using: &generator))"
            if Int.random(in: 0..<20, using: &generator) == 0 { _ = chain.load(.cacheable(.put, path)).textLater }
            guard let response = chain.load(.cacheable(.get, path)).responseLater,
                let version = response.headers["V"].flatMap(Int.init), response.body == body(path, version)
            else { return false }
        }
        return true
    }

    /// Between no bytes and three blocks.
    static func body(_ path: String, _ version: Int) -> Data {
        let lines = Data(String(repeating: "\(path) \(version)\n", count: 64).utf8)
        var body = Data()
        while body.count < version * 200 { body += lines }
        return body.prefix(version * 200)
    }

    @Test func `four processes share a folder, and one of them is killed`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "cache").path
        await withTaskGroup(of: Void.self) { group in
            for seed in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) {
                        [path = path as String, seed = UInt64(seed) as UInt64] in
                        exit(DiskProcessesTests.work(in: path, seed: seed) ? 0 : 1)
                    }
                }
            }
            group.addTask {
                await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                    _ = DiskProcessesTests.work(in: path, seed: 7, killedAfter: 100)
                }
            }
        }
        #expect(Self.work(in: path, seed: 8))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a process that is killed at any call of the file system leaves nothing that is wrong`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "cache").path
        for limit in stride(from: 1, to: 61, by: isThorough ? 1 : 6) {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, seed = UInt64(limit) as UInt64, limit = limit as Int] in
                _ = DiskProcessesTests.work(in: path, seed: seed, killedAfter: limit)
            }
            #expect(Self.work(in: path, seed: 8, rounds: 30), "after \(limit) calls")
        }
    }

    #if os(Linux)
    /// A sanitizer's own files would be too large as well.
    @Test(.enabled(if: !isSanitized))
    func `a disk that is full in the middle of a file stores nothing of it, and goes on`() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.url.appending(path: "cache").path
        await #expect(processExitsWith: .success) { [path = path as String] in
            // A longer write is cut, and the next one fails.
            _ = signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            let stub = StubLoader(answering: { request in
                let count = request.path == "/large" ? 150_000 : 50_000
                return .response(headers: ["Cache-Control": "max-age=10"], data: Data(repeating: 7, count: count))
            })
            let cache = Cache(.disk(at: URL(filePath: path), capacity: 10 << 20))
            let chain = cache --> stub
            for _ in 0..<2 {
                for (path, count) in [("/large", 150_000), ("/small", 50_000)] {
                    guard chain.load(.cacheable(.get, path)).responseLater?.body.count == count else { exit(3) }
                }
            }
            exit(stub.requests.count == 3 && cache.statistics.stored == 1 ? 0 : 4)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        #expect(names.filter { $0.hasPrefix("b-") }.count == 1 && !names.contains { $0.hasPrefix("t-") })
    }
    #endif
}
#endif
