// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 17)
struct Picture: Sendable, Equatable { let name: String }

final class PictureStore: Sendable {
    final class Request: Sendable {
        func stop() {}
    }

    func load(_ name: String, completion: @escaping @Sendable (Picture?, (any Error)?) -> Void) -> Request {
        DispatchQueue.global().async { completion(Picture(name: name), nil) }
        return Request()
    }
}
#sourceLocation()

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 32)






extension PictureStore {
    func picture(_ name: String) -> Task<Picture> {
        let promise = Task<Picture>.Promise()
        let request = load(name) { picture, error in
            if let picture {
                promise.succeed(with: picture)
            } else {
                promise.fail(with: error ?? CocoaError(.fileReadUnknown))
            }
        }
        return Task(promise, uponCancel: { _ in request.stop() })
    }
}
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromCompletionHandlersSnippets {
    @Test func `Wrap what you cant change`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 53)
        let store = PictureStore()
        #expect(try await store.picture("moon").value == Picture(name: "moon"))
#sourceLocation()
    }

    @Test func `Replace the pyramid`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 72)
        let store = PictureStore()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 75)
        let pair = store.picture("moon").flatMap { moon in
            store.picture("sun").map { sun in [moon, sun] }
        }
        pair.uponSuccess(on: .main) { print($0) }
        pair.uponFailure(on: .main) { print("failed: \($0.localizedDescription)") }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 82)
        #expect(try await pair.value.map(\.name) == ["moon", "sun"])
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 88)
        let album = ["moon", "sun", "star"].mapTasks(maxConcurrent: 2) { store.picture($0) }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 91)
        #expect(try await album.value.count == 3)
#sourceLocation()
    }

    @Test func `Keep the old callers`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 99)
        let store = PictureStore()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 102)
        func loadPicture(_ name: String, completion: @escaping @Sendable (Picture?) -> Void) -> RequestToken {
            let task = store.picture(name)
            task.upon(.main) { completion(try? $0.get()) }
            return RequestToken(task)
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 109)
        let loaded = Deferred<Picture?>()
        let token = loadPicture("moon") { loaded.fill(with: $0) }
        #expect(await loaded.value == Picture(name: "moon"))
        token.cancel()
#sourceLocation()
    }

    @Test func `From tokens that cancel`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 124)
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let url = server.url("/")
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 129)
        let source = CancellationTokenSource()
        let request = URLSession.shared.beginDataTask(with: url)
        let size = request.map { data, _ in data.count }.cancelled(by: source.token)
        source.cancel()

        size.uponFailure(on: .immediate) { error in
            print(error is URLError)        // false: a CancellationError
            print(error.isCancellation)     // true
        }
        request.uponFailure(on: .immediate) { error in
            print(error is URLError)        // true: URLError.cancelled
            print(error.isCancellation)     // true
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 144)
        let (derived, bare) = await (size.result, request.result)
        guard case .failure(let outer) = derived, case .failure(let inner) = bare else { Issue.record("a success"); return }
        #expect(outer is CancellationError && outer.isCancellation)
        #expect((inner as? URLError)?.code == .cancelled && inner.isCancellation)
#sourceLocation()
    }

    @Test func `Or await`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 155)
        let store = PictureStore()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 158)
        func names() async throws -> [String] {
            let moon = store.picture("moon")
            let sun = store.picture("sun")  // both are running
            return try await [moon.get().name, sun.get().name]
        }
        print(try await names())
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromCompletionHandlers.md", line: 166)
        #expect(try await names() == ["moon", "sun"])
#sourceLocation()
    }
}
