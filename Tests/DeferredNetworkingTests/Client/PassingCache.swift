import DeferredCore
import DeferredTask
import Foundation

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// True if all tests of clients are to run over a cache that stores nothing: `DEFERRED_CACHE=passing` in the environment.
let isCacheTested = ProcessInfo.processInfo.environment["DEFERRED_CACHE"] == "passing"

/// A cache that passes every request on.
struct PassingCache: URLClient.ResponseCache {
    func connect() -> URLClient.CacheConnection {
        URLClient.CacheConnection { task in
            let fields = task.origin.request.request.allHTTPHeaderFields ?? [:]
            let sending = task.origin.send(fields.map { ($0.key, $0.value) }, telling: task)
            sending.upon(.immediate) { result in
                switch result {
                case .success(let (head, body)):
                    let iterator = Iterator(body.makeAsyncIterator())
                    task.answer(head, onCancel: { body.cancel() }) { try await iterator.next() }
                case .failure(let error):
                    task.fail(error)
                }
            }
            task.onCancel { sending.cancel() }
        }
    }

    /// SAFETY: used by the one task that reads the body.
    private final class Iterator: @unchecked Sendable {
        private var iterator: HTTPBodyStream.Iterator
        init(_ iterator: HTTPBodyStream.Iterator) { self.iterator = iterator }
        func next() async throws -> Data? { try await iterator.next() }
    }
}
