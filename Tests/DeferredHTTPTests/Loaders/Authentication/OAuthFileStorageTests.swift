import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct OAuthFileStorageTests {
    private let tokens = OAuth.Tokens(access: "a", refresh: "r", expiry: Date(timeIntervalSince1970: 7.5))

    @Test func `tokens are kept in a file of the owner's alone, and removed`() throws {
        let folder = try TemporaryDirectory()
        let storage = OAuth.FileStorage(folder.file)
        #expect(try storage.tokens() == nil)
        try storage.store(nil)
        for tokens in [tokens, .init(access: "b")] {
            try storage.store(tokens)
            #expect(try OAuth.FileStorage(folder.file).tokens() == tokens)
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.file.deletingLastPathComponent().path).count == 1
        )
        try storage.store(nil)
        #expect(try storage.tokens() == nil)
    }

    @Test func `a file that can't be used fails with its path, and shows nothing of it`() throws {
        let folder = try TemporaryDirectory()
        try Data(#"{"access": "hush""#.utf8).write(to: folder.file)
        let error = #expect(throws: CocoaError.self) { try OAuth.FileStorage(folder.file).tokens() }
        #expect(error?.filePath == folder.file.path && !"\(String(describing: error))".contains("hush"))
        let unreadable = #expect(throws: CocoaError.self) { try OAuth.FileStorage(folder.url).tokens() }
        #expect((unreadable?.underlying as? POSIXError)?.code == .EISDIR, "\(String(describing: unreadable))")
        let missing = folder.file.appending(path: "none/tokens")
        #expect(throws: CocoaError.self) { try OAuth.FileStorage(missing).store(tokens) }
    }

    @Test func `operations exclude each other, of one storage and of several`() async throws {
        let folder = try TemporaryDirectory()
        let storages = (0..<4).map { _ in OAuth.FileStorage(folder.file) }
        let memory = OAuth.MemoryStorage(.init(access: "0"))
        let all: [any OAuth.Storage] = storages + storages
        for storage in all { try await storage.store(.init(access: "0")) }
        try await withThrowingTaskGroup { group in
            for storage in all + Array(repeating: memory, count: 8) {
                group.addTask {
                    for _ in 0..<5 {
                        try await storage.withExclusiveAccess {
                            let count = try await Int(storage.tokens()?.access ?? "") ?? -1
                            await _Concurrency.Task.yield()
                            try await storage.store(.init(access: "\(count + 1)"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try storages[0].tokens()?.access == "40")
        #expect(await memory.tokens()?.access == "40")
    }

    @Test func `who is cancelled while waiting leaves, and those behind get their turn`() async throws {
        let storage = OAuth.MemoryStorage()
        let (entered, end) = (Deferred<Void>(), Deferred<Void>())
        let first = Task {
            try await storage.withExclusiveAccess {
                entered.fill()
                await end.value
            }
        }
        await entered.value
        let waiting = _Concurrency.Task { try await storage.withExclusiveAccess {} }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        let last = Task { try await storage.withExclusiveAccess { end.isFilled } }
        end.fill()
        #expect(try await last.value)
        try await first.value
    }

    @Test func `a lock whose file was removed is made again`() async throws {
        let folder = try TemporaryDirectory()
        let (one, two) = (OAuth.FileStorage(folder.file), OAuth.FileStorage(folder.file))
        let lock = folder.file.path + ".lock"
        try await one.withExclusiveAccess { try FileManager.default.removeItem(atPath: lock) }
        try await two.withExclusiveAccess {
            #expect(FileManager.default.fileExists(atPath: lock))
        }
    }
}
