import Deferred
import DeferredTesting
import Foundation
import Synchronization

/// The server's side of a queue that makes trouble: its tokens expire, some answers are 503, and some are lost.
final class FlakyQueue: Sendable {
    struct State {
        /// Jobs that nobody has taken.
        var waiting: [Int]
        /// Jobs that were taken, and are not finished.
        var taken: Set<Int> = []
        var results: [Int: String] = [:]
        var tokens = 0
        /// How often the rule was asked for.
        var rules = 0
        /// How many jobs nobody gets for the time being, so that there is something left to do.
        var reserved: Int

        fileprivate var jobsByKey: [String: Int] = [:]
        /// Requests that were answered, with or without trouble.
        fileprivate var seen: Set<String> = []
    }

    /// Filled when a third of the results are there.
    let isInTheMiddle = Deferred<Void>()

    /// Filled when all results are there.
    let isDone = Deferred<Void>()

    private let jobCount: Int
    private let contents: Mutex<State>

    init(jobCount: Int) {
        self.jobCount = jobCount
        contents = Mutex(State(waiting: Array(1...jobCount), reserved: jobCount / 3))
    }

    var state: State { contents.withLock { $0 } }

    func releaseReserve() { contents.withLock { $0.reserved = 0 } }

    static func text(of job: Int) -> String { "job number \(job)" }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Script {
        let (script, count) = contents.withLock { ($0.answer(request), $0.results.count) }
        if count >= jobCount / 3 { isInTheMiddle.fill() }
        if count == jobCount { isDone.fill() }
        return script
    }
}

extension FlakyQueue.State {
    fileprivate mutating func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Script {
        if request.path == "/token" {
            tokens += 1
            return .json(#"{"token": "\#(tokens)"}"#)
        }
        // A token is good for 40 requests.
        guard request.headers["Authorization"] == "Bearer \(tokens)", seen.count < 40 * tokens else {
            return .response(401, headers: ["WWW-Authenticate": "Bearer"])
        }
        if request.path == "/rule" {
            rules += 1
            return .response(headers: ["Cache-Control": "public, max-age=60"], body: "backwards")
        }
        let isNew = seen.insert(request.path + (request.headers["Idempotency-Key"] ?? "")).inserted
        if isNew, seen.count % 7 == 0 { return .response(503, headers: ["Retry-After": "0"]) }
        let script = request.path == "/jobs/take" ? take(request) : finish(request)
        // The answer is lost, when all is done.
        return isNew && seen.count % 11 == 0 ? [.close] : script
    }

    private mutating func take(_ request: LoopbackServer.Request) -> LoopbackServer.Script {
        guard let key = request.headers["Idempotency-Key"] else { return .response(400) }
        guard let job = jobsByKey[key] ?? (waiting.count > reserved ? waiting.removeLast() : nil) else {
            return .response(204)
        }
        jobsByKey[key] = job
        if results[job] == nil { taken.insert(job) }
        return .json(#"{"id": \#(job), "text": "\#(FlakyQueue.text(of: job))"}"#)
    }

    private mutating func finish(_ request: LoopbackServer.Request) -> LoopbackServer.Script {
        let path = request.path.split(separator: "/")
        guard path.count == 3, let job = Int(path[1]), taken.contains(job) || results[job] != nil else {
            return .response(404)
        }
        taken.remove(job)
        results[job] = String(decoding: request.body, as: UTF8.self)
        return .response(204)
    }
}
