import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests everything at once: a chain of seven loaders, a misbehaving server, and callers that cancel.
@Suite("End to end", .serialized, .alone, .timeLimit(.minutes(10)))
struct EndToEndTests {
    /// The number of requests; smaller under a sanitizer, where each takes many times as long.
    private static let count = isSanitized ? 500 : 5_000
    private static let threads = 4

    /// Counts completed requests, by their outcome.
    private final class Endings: Sendable {
        private struct State: Sendable {
            var codes: [String: Int] = [:]
            var count = 0
            var waiting: (count: Int, future: Deferred<Void>)?
        }

        private let state = Lock(State())

        func add(_ result: HTTPResult) {
            let name =
                switch result {
                case .success(let response): "\(response.status.code)"
                case .failure(let error): error.code.rawValue
                }
            let reached = state.withLock { state in
                state.codes[name, default: 0] += 1
                state.count += 1
                return state.count == state.waiting?.count ? state.waiting?.future : nil
            }
            reached?.fill()
        }

        var count: Int { state.withLock { $0.count } }
        var byName: [String: Int] { state.withLock { $0.codes } }

        /// Waits until `count` requests have completed.
        func wait(for count: Int) async {
            let future = Deferred<Void>()
            let isReached = state.withLock { state in
                state.waiting = (count, future)
                return state.count >= count
            }
            if !isReached { await future.value }
        }
    }

    private func makeChain(_ server: LoopbackServer, _ lifetimes: Lifetimes) -> HTTPChain {
        let loader = URLSessionLoader.underTest()
        let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port), pathPrefix: "/api")
        let token = lifetimes.make()
        return ResetGuard()
            --> Autocancel()
            --> Retry(.backoff(attempts: 3), clock: ImpatientClock())
            --> Throttle(maximum: 64)
            --> ApplyEnvironment(environment)
            --> BearerAuthentication { _ in
                token.touch()
                return (Retry(clock: ImpatientClock()) --> loader).load(HTTPRequest(url: server.url("/token"))).task
                    .map(\.text)
            }
            --> loader
    }

    private func path(_ number: Int, using random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10: "/busy"
        case 10..<20: "/reset"
        case 20..<22: "/stall"
        default: "/ok/\(number)"
        }
    }

    /// Loads requests on a few threads, and cancels one in ten of them some time later.
    private func load(_ count: Int, with chain: HTTPChain, seed: UInt64, _ lifetimes: Lifetimes, _ endings: Endings) {
        race(Self.threads) { index in
            var random = SeededGenerator(seed: seed &+ UInt64(index))
            var regretted: [HTTPTask] = []
            for number in 0..<count / Self.threads {
                var request = HTTPRequest(path: path(number, using: &random))
                if request.path == "/stall" { request.timeout = .milliseconds(500) }
                let task = chain.load(request)
                let token = lifetimes.make()
                task.addCompletionHandler { result in
                    token.touch()
                    endings.add(result)
                }
                if number % 10 == 0 { regretted.append(task) }
                if number % 30 == 0, let task = regretted.randomElement(using: &random) { task.cancel() }
            }
            for task in regretted { task.cancel() }
        }
    }

    @Test func `every request ends once, resets end, and nothing is left`() async throws {
        let (lifetimes, endings) = (Lifetimes(), Endings())
        let server = try LoopbackServer.atItsWorst()
        defer { server.stop() }
        weak var stray: HTTPTask?
        do {
            let chain = makeChain(server, lifetimes)
            for round in 1...3 {
                load(Self.count, with: chain, seed: UInt64(round) &* 1_000, lifetimes, endings)
                // In the first two rounds, a third of the requests has completed when the reset begins.
                let target = (round - 1) * (Self.count + 8) + Self.count / 3
                await endings.wait(for: target)
                let reset = chain.reset()
                // These requests arrive during the reset, or just after it.
                load(8, with: chain, seed: UInt64(round), lifetimes, endings)
                await reset.value
            }
            let late = chain.load(HTTPRequest(path: "/ok/late"))
            stray = late
            #expect(try await late.value.get().status == .ok)
        }
        let total = 3 * (Self.count + 8)
        await endings.wait(for: total)
        try await eventually { stray == nil && lifetimes.count == 0 && server.openConnectionCount == 0 }
        #expect(endings.count == total)
        let names = endings.byName
        #expect(names["200", default: 0] > Self.count / 4, "\(names)")
        #expect(names["cancelled", default: 0] > Self.count / 10, "\(names)")
        #expect(names["abandoned"] == nil && names["unknown"] == nil, "\(names)")
    }
}

extension LoopbackServer {
    /// Starts a server with tokens that expire after a while, which throttles, drops connections and stalls.
    fileprivate static func atItsWorst() throws -> LoopbackServer {
        let (token, uses) = (Counter(), Counter())
        return try LoopbackServer(requestLogLimit: 0) { request in
            if request.path == "/token" { return .response(body: .text("\(token.value)")) }
            guard request.headers["Authorization"] == "Bearer \(token.value)" else { return .response(401) }
            if uses.next() % 300 == 0 { _ = token.next() }
            switch request.path {
            case "/api/busy" where request.number % 2 == 0: return .response(429, headers: ["Retry-After": "1"])
            case "/api/reset" where request.number % 2 == 0:
                return .response(body: "12345", contentLength: 10) + [.reset]
            case "/api/stall": return .response(body: "12345", contentLength: 10) + [.stall]
            default: return .response(body: "hello")
            }
        }
    }

    private final class Counter: Sendable {
        private let count = Atomic(0)

        var value: Int { count.load(ordering: .relaxed) }

        func next() -> Int { count.add(1, ordering: .relaxed).newValue }
    }
}
