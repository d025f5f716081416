import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

/// Resets out of what a chain itself has begun, when it is not the only one to do so. The clock stands still, so that a
/// reset that needs the grace period doesn't end.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ResetsFromInsideTests {
    private let own = ChainReference()
    private let clock = ManualClock()
    private let resets = Journal<String>()

    /// Resets the chain when the request has its response, and `isDue` is true.
    private func signingOut(when isDue: @escaping @Sendable () -> Bool) -> Intercept {
        Intercept { [own, resets] request, next in
            let response = try await next(request)
            while !isDue() { await _Concurrency.Task.yield() }
            await own.chain?.reset().value
            resets.add(request.path)
            return response
        }
    }

    private func requests(_ count: Int) -> [HTTPRequest] {
        (0..<count).map { HTTPRequest(host: "host", path: "/\($0)") }
    }

    /// Ends a reset that has not ended by itself, so that nothing is left.
    private func release(until condition: () -> Bool) {
        clock.advance(by: .seconds(5))
        _ = settles(within: .seconds(5), condition)
        own.chain = nil
    }

    @Test func `two closures that reset their chain at the same time don't wait for each other`() {
        let stub = StubLoader(.response(401))
        let arrived = Journal<String>()
        let counting = Intercept { request, next in
            let response = try await next(request)
            arrived.add(request.path)
            return response
        }
        let chain =
            ResetGuard() --> Autocancel(clock: clock) --> signingOut { arrived.entries.count == 2 } --> counting
            --> stub
        own.chain = chain
        let tasks = requests(2).map { chain.load($0) }
        #expect(settles(within: .seconds(10)) { resets.entries.count == 2 })
        #expect(tasks.allSatisfy { $0.codeNow == .cancelled })
        release { resets.entries.count == 2 }
    }

    @Test func `a closure that resets its chain during another reset does not hold that up`() {
        let due = Deferred<Void>()
        let stub = StubLoader(.response(401))
        let chain = ResetGuard() --> Autocancel(clock: clock) --> signingOut { due.isFilled } --> stub
        own.chain = chain
        chain.load(.example)
        _ = settles(within: .seconds(5)) { !stub.requests.isEmpty && stub.tasksInFlight.isEmpty }
        let reset = chain.reset()
        due.fill()
        #expect(settles(within: .seconds(10)) { reset.isFilled && resets.entries.count == 1 })
        release { reset.isFilled && resets.entries.count == 1 }
    }

    /// A reset waits for a refresh by the real clock, five seconds.
    @Test func `a refresh that resets its chain during another reset does not hold that up`() {
        let (begun, due) = (Deferred<Void>(), Deferred<Void>())
        let bearer = BearerAuthentication(hosts: ["example.com"]) { [own, resets] _ in
            Task {
                begun.fill()
                await due.value
                await own.chain?.reset().value
                resets.add("refresh")
                return "token"
            }
        }
        let chain = ResetGuard() --> Autocancel(clock: clock) --> bearer --> StubLoader(.response())
        own.chain = chain
        chain.load(.example)
        _ = settles(within: .seconds(5)) { begun.isFilled }
        let reset = chain.reset()
        due.fill()
        #expect(settles(within: .seconds(3)) { reset.isFilled && resets.entries.count == 1 })
        _ = settles(within: .seconds(10)) { reset.isFilled && resets.entries.count == 1 }
        own.chain = nil
    }

    /// The refresh is not one of the chain that is reset.
    @Test func `a refresh of another chain that joins a reset waits for its end`() {
        let stub = StubLoader(.pending.ignoringCancellation())
        let chain = ResetGuard() --> Autocancel(clock: clock) --> stub
        let bearer = BearerAuthentication(hosts: ["example.com"]) { [resets] _ in
            Task {
                await chain.reset().value
                resets.add("refresh")
                return "token"
            }
        }
        chain.load(.example)
        let reset = chain.reset()
        let other = (bearer --> StubLoader(.response())).load(.example)
        #expect(!settles(within: .milliseconds(50)) { other.isFilled } && resets.entries.isEmpty && !reset.isFilled)
        stub.tasksInFlight[0].fail(.cancelled)
        #expect(reset.isFilled && settles(within: .seconds(10)) { other.statusNow == .ok })
    }

    @Test func `closures of two chains that share the loaders reset each other's chain`() {
        let (other, arrived) = (ChainReference(), Journal<String>())
        let (autocancel, guarding) = (Autocancel(clock: clock), ResetGuard())
        func signingOut(_ chain: ChainReference) -> Intercept {
            Intercept { [resets] request, next in
                let response = try await next(request)
                arrived.add(request.path)
                while arrived.entries.count < 2 { await _Concurrency.Task.yield() }
                await chain.chain?.reset().value
                resets.add(request.path)
                return response
            }
        }
        own.chain = guarding --> autocancel --> signingOut(other) --> StubLoader(.response(401))
        other.chain = autocancel --> guarding --> signingOut(own) --> StubLoader(.response(401))
        let tasks = [own.chain?.load(.example), other.chain?.load(.example)]
        #expect(settles(within: .seconds(5)) { resets.entries.count == 2 })
        #expect(tasks.allSatisfy { $0?.codeNow == .cancelled })
        other.chain = nil
        release { resets.entries.count == 2 }
    }

    @Test func `resets out of all handlers of all requests end`() {
        let (stub, count) = (StubLoader(), Journal<Int>())
        let chain = ResetGuard() --> Autocancel(clock: clock) --> Throttle(maximum: 2) --> stub
        let tasks = (0..<50).map { _ in chain.load(.example) }
        for task in tasks {
            task.addCancellationHandler { chain.reset().upon(.immediate) { count.add(1) } }
            task.addCompletionHandler { _ in chain.reset().upon(.immediate) { count.add(2) } }
        }
        stub.tasksInFlight[0].succeed(.ok)
        #expect(tasks.map(\.codeNow).count { $0 == .cancelled } == 49 && count.entries.count == 99)
        #expect(stub.resetCount == 1 && stub.tasksInFlight.isEmpty)
    }
}
