import DeferredCore
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DeferredHTTP

#if os(macOS) || os(Linux)
/// Processes that share a folder, some of which are killed.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct DiskProcessesTests {
    /// Loads, changes and removes at random. Each body tells its path and its version, as does a field.
    ///
    /// - Parameter limit: The number of calls of the file system after which the process kills itself.
    /// - Returns: True if all responses were whole, and those that were asked for.
    static func work(in path: String, seed: UInt64, killedAfter limit: Int? = nil) -> Bool {
        let count = Atomic(0)
        let storage = Cache.Storage { now in
            DiskStore.opened(path, capacity: 2 << 20, now: now) { _ in
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
        for _ in 0..<120 {
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
                    _ = DiskProcessesTests.work(in: path, seed: 7, killedAfter: 400)
                }
            }
        }
        #expect(Self.work(in: path, seed: 8))
    }
}
#endif
