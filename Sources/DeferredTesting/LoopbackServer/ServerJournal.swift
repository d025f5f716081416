internal import DeferredCore

/// The counts and the log of a server's requests and connections.
final class ServerJournal: Sendable {
    private struct State {
        var requestCount = 0
        var connectionCount = 0
        var openConnectionCount = 0
        var requests: [LoopbackServer.Request] = []
    }

    private let state = Lock(State())
    private let limit: Int

    /// - Parameter limit: The number of requests to keep; older ones are dropped.
    init(limit: Int) {
        self.limit = max(0, limit)
    }

    var requestCount: Int { state.withLock { $0.requestCount } }
    var connectionCount: Int { state.withLock { $0.connectionCount } }
    var openConnectionCount: Int { state.withLock { $0.openConnectionCount } }
    var requests: [LoopbackServer.Request] { state.withLock { Array($0.requests.suffix(limit)) } }

    /// Counts a connection and returns its number.
    func connectionOpened() -> Int {
        state.withLock { state in
            state.connectionCount += 1
            state.openConnectionCount += 1
            return state.connectionCount
        }
    }

    /// Counts the end of a connection. Called before the peer can see the end, so that it then finds the right count.
    func connectionCloses() {
        state.withLock { $0.openConnectionCount -= 1 }
    }

    /// Counts a request and returns its number.
    func requestArrived() -> Int {
        state.withLock { state in
            state.requestCount += 1
            return state.requestCount
        }
    }

    func note(_ request: LoopbackServer.Request) {
        guard limit > 0 else { return }
        state.withLock { state in
            state.requests.append(request)
            // Dropping in blocks keeps the cost of each request constant.
            if state.requests.count / 2 >= limit { state.requests.removeFirst(state.requests.count - limit) }
        }
    }
}
