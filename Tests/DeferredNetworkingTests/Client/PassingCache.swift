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
        URLClient.CacheConnection { request, _, send in
            let fields = request.request.allHTTPHeaderFields ?? [:]
            return send(HTTPHeaders(fields.map { .init(name: $0.key, value: $0.value) }))
        }
    }
}
