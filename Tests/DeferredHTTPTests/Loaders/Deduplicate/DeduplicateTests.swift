import DeferredCache
import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Makes requests that are equal, and keep an object.
private enum MarkOption: HTTPRequestOption {
    struct Mark: Hashable {
        let token: Lifetimes.Token?

        static func == (one: Mark, other: Mark) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    static let defaultValue = Mark(token: nil)
}

extension HTTPRequest {
    fileprivate static func marked(_ token: Lifetimes.Token?) -> HTTPRequest {
        var request = HTTPRequest.example
        request[MarkOption.self] = .init(token: token)
        return request
    }
}

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct DeduplicateTests {
    @Test func `equal requests are loaded once, and all get the response`() {
        let (stub, deduplicate) = (StubLoader(), Deduplicate())
        let chain = deduplicate --> stub
        let tasks = (0..<5).map { _ in chain.load(HTTPRequest(host: "host", headers: ["Accept": "a"])) }
        #expect(stub.requests.count == 1 && deduplicate.mergedCount == 4)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(tasks.allSatisfy { $0.statusNow == .ok })
        chain.load(HTTPRequest(host: "host", headers: ["accept": "a"]))
        #expect(stub.requests.count == 2, "what has ended is not shared any more")
    }

    @Test func `a failure is shared, too`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        let tasks = (0..<3).map { _ in chain.load(.example) }
        stub.tasksInFlight[0].fail(.timedOut)
        #expect(tasks.allSatisfy { $0.codeNow == .timedOut })
    }

    @Test func `requests that differ are loaded each`() {
        var (other, header, environment, strategy) = (
            HTTPRequest.example, HTTPRequest.example, HTTPRequest.example, HTTPRequest.example
        )
        other.path = "/other"
        header.headers["Accept"] = "a"
        environment.environment = HTTPEnvironment(host: "elsewhere")
        strategy.retryStrategy = .never
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        for request in [.example, other, header, environment] { for _ in 0..<2 { chain.load(request) } }
        #expect(stub.requests.count == 4)
        for _ in 0..<2 { chain.load(strategy) }
        #expect(stub.requests.count == 6, "a closure can't be compared")
    }

    @Test func `requests with unsafe methods are loaded each time, unless they opt in`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        var request = HTTPRequest(.post, host: "host", body: .text("a"))
        for _ in 0..<2 { chain.load(request) }
        #expect(stub.requests.count == 2)
        request.isDeduplicated = true
        for _ in 0..<2 { chain.load(request) }
        #expect(stub.requests.count == 3)
        var read = HTTPRequest.example
        read.isDeduplicated = false
        for _ in 0..<2 { chain.load(read) }
        #expect(stub.requests.count == 5)
    }

    @Test func `after the last was cancelled, an equal request is a new execution`() {
        let stub = StubLoader(.pending.ignoringCancellation())
        let chain = Deduplicate() --> stub
        chain.load(.example).cancel()
        #expect(stub.tasksInFlight[0].isCancelled)
        let task = chain.load(.example)
        #expect(stub.requests.count == 2)
        stub.tasksInFlight[0].fail(.cancelled)
        #expect(task.peek() == nil)
        stub.tasksInFlight[0].succeed(.ok)
        #expect(task.statusNow == .ok)
    }

    @Test func `progress comes to all of them`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        let progress = (0..<2).map { _ in chain.load(.example).task.progress }
        stub.tasksInFlight[0].report(completed: 1, of: 2)
        #expect(progress.allSatisfy { abs($0.fractionCompleted - 0.5) < 1e-6 })
        let late = chain.load(.example).task.progress
        #expect(abs(late.fractionCompleted - 0.5) < 1e-6, "what was reported before counts for one that joins")
    }

    @Test func `texts are compared by their bytes: one user is not the other`() {
        let stub = StubLoader()
        let chain = Deduplicate() --> stub
        for name in ["\u{e9}", "e\u{301}"] {
            var (header, partition) = (HTTPRequest.example, HTTPRequest.example)
            header.headers["Authorization"] = "Bearer \(name)"
            partition.cachePartition = name
            for request in [header, partition] { chain.load(request) }
        }
        #expect(stub.requests.count == 4)
    }

    @Test func `after the end nothing is kept`() {
        let lifetimes = Lifetimes()
        let stub = StubLoader(.response())
        let chain = Deduplicate() --> stub
        chain.load(.example).addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
        weak var task: HTTPTask?
        do {
            let pending = StubLoader()
            let one = (chain --> pending).load(.example)
            one.addCompletionHandler { [token = lifetimes.make()] _ in token.touch() }
            task = one
            pending.tasksInFlight[0].succeed(.ok)
        }
        #expect(task == nil && lifetimes.count == 0)
    }

    @Test func `requests end in the order in which they came, also when some of them have left`() {
        let (stub, ends) = (StubLoader(), Journal<Int>())
        let chain = Deduplicate() --> stub
        let tasks = (0..<20).map { index in chain.load(.example) { _ in ends.add(index) } }
        let left = [11, 0, 7]
        for index in left { tasks[index].cancel() }
        for task in stub.tasksInFlight { task.succeed(.ok) }
        #expect(ends.entries == left + (0..<20).filter { !left.contains($0) })
    }

    @Test(arguments: [0, 1, 2])
    func `a request that is cancelled is not kept for the others`(index: Int) {
        let (stub, lifetimes) = (StubLoader(), Lifetimes())
        let chain = Deduplicate() --> stub
        // Not the one whose request is loaded.
        let first = chain.load(.marked(nil))
        var tasks = (0..<3).map { _ in chain.load(.marked(lifetimes.make())) }
        #expect(stub.requests.count == 1 && lifetimes.count == 3)
        tasks.remove(at: index).cancel()
        #expect(lifetimes.count == 2)
        for task in stub.tasksInFlight { task.succeed(.ok) }
        #expect(first.statusNow == .ok && tasks.allSatisfy { $0.statusNow == .ok })
    }

    @Test func `what loaders further down hold for a request is free when its response arrives`() {
        let throttle = Throttle(maximum: 1)
        let chain = Deduplicate() --> throttle --> StubLoader(.response())
        let waiting = Journal<Int>()
        chain.load(.example) { _ in
            chain.load(HTTPRequest(host: "host"))
            waiting.add(throttle.waitingCount)
        }
        #expect(waiting.entries == [0])
    }

    @Test func `joining, cancelling and completing at once comes to one end each`() {
        for _ in 0..<(isSanitized ? 100 : 500) {
            let (stub, tasks) = (StubLoader(), Journal<HTTPTask>())
            let chain = Deduplicate() --> stub
            race(5) { index in
                if index == 0 {
                    for task in stub.tasksInFlight { task.succeed(.ok) }
                } else {
                    let task = chain.load(.example)
                    tasks.add(task)
                    if index < 4 { task.cancel() }
                }
            }
            for task in stub.tasksInFlight { task.succeed(.ok) }
            #expect(tasks.entries.allSatisfy { $0.statusNow == .ok || $0.codeNow == .cancelled })
            #expect(tasks.entries.contains { $0.statusNow == .ok }, "one was never cancelled")
        }
    }
}
