import DeferredCore
import DeferredHTTP
import DeferredTesting
import Foundation
import TestSupport
import Testing

/// Keeps the tasks that it is given.
private final class Keeper: HTTPLoader {
    private let kept = Lock<[HTTPTask]>([])

    var task: HTTPTask? { kept.withLock { $0.first } }

    func load(_ task: HTTPTask) { kept.withLock { $0.append(task) } }

    func forget() {
        let gone = kept.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        withExtendedLifetime(gone) {}
    }
}

/// The loaders that change a request and do nothing else with the task.
@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ChangedRequestTests {
    private static let links: [any HTTPLink] = [
        ApplyEnvironment(HTTPEnvironment(host: "host")), ModifyRequest { $0.host = "host" },
        BasicAuthentication(user: "u", password: "p"),
    ]

    private let request = HTTPRequest(path: "/")

    /// Returns whether a loader has changed the request.
    private func isChanged(_ request: HTTPRequest) -> Bool {
        request.host == "host" || request.headers["Authorization"] != nil
    }

    private func attached(_ link: any HTTPLink, _ next: any HTTPLoader) -> HTTPChain {
        link --> next
    }

    @Test func `the loader before sees its own request, the one after it the changed one, with one identifier`() throws
    {
        for link in Self.links {
            let (before, after) = (Keeper(), Keeper())
            let observed = before.load(request)
            let task = try #require(before.task)
            attached(link, after).load(task)
            let changed = try #require(after.task)
            #expect(isChanged(changed.request) && !isChanged(task.request) && !isChanged(observed.request))
            #expect(changed.id == task.id && observed.id == task.id)
            changed.succeed(.ok)
            #expect(observed.statusNow == .ok && task.statusNow == .ok)
            #expect(try isChanged(#require(observed.peek()).get().request))
        }
    }

    @Test func `a loader that releases the task completes it, with the request that it had`() throws {
        for link in Self.links {
            for isKept in [false, true] {
                let (before, after) = (Keeper(), Keeper())
                let observed = before.load(request)
                attached(link, after).load(try #require(before.task))
                if !isKept { before.forget() }
                #expect(observed.peek() == nil, "the loader after \(type(of: link)) has it")
                after.forget()
                guard case .failure(let error)? = observed.peek() else {
                    Issue.record("not complete")
                    continue
                }
                #expect(error.code == .abandoned && isChanged(error.request))
            }
        }
    }

    @Test func `a cancellation reaches the loader after it`() throws {
        for link in Self.links {
            let (after, cancelled) = (Keeper(), Journal<String>())
            let observed = attached(link, after).load(request)
            let task = try #require(after.task)
            task.addCancellationHandler { cancelled.add("cancelled") }
            observed.cancel()
            #expect(cancelled.entries == ["cancelled"] && task.isCancelled)
            #expect(task.failIfCancelled() && observed.codeNow == .cancelled)
        }
    }

    @Test func `an earlier loader that completes the task cancels it for the loader after the change`() throws {
        for link in Self.links {
            for isKept in [true, false] {
                let (before, after, called) = (Keeper(), Keeper(), Journal<String>())
                before.load(request)
                let early = try #require(before.task)
                attached(link, after).load(early)
                let late = try #require(after.task)
                early.addCancellationHandler { called.add("early") }
                late.addCancellationHandler { called.add("older") }
                late.addCancellationHandler { called.add("newer") }
                let registration = late.addCancellationHandler { called.add("removed") }
                if !isKept { registration.cancel() }
                #expect(early.fail(.timedOut))
                #expect(called.entries == (isKept ? ["removed"] : []) + ["newer", "older"])
                #expect(late.isCancelled && !early.isCancelled)
                late.addCancellationHandler { called.add("too late") }
                early.addCancellationHandler { called.add("never") }
                #expect(called.entries.last == "too late" && late.failIfCancelled())
                late.cancel()
                early.cancel()
                #expect(called.entries.count == (isKept ? 4 : 3) && early.codeNow == .timedOut)
            }
        }
    }

    @Test func `a loader that completes the task cancels it only after the changes that come later`() throws {
        for completing in 0..<3 {
            let (keepers, called) = ([Keeper(), Keeper(), Keeper()], Journal<Int>())
            keepers[0].load(request)
            var tasks = [try #require(keepers[0].task)]
            for keeper in keepers.dropFirst() {
                (ModifyRequest { $0.path += "x" } --> keeper).load(tasks[tasks.count - 1])
                tasks.append(try #require(keeper.task))
            }
            for (place, task) in tasks.enumerated() { task.addCancellationHandler { called.add(place) } }
            #expect(tasks[completing].succeed(.ok))
            #expect(called.entries == Array((completing + 1..<3).reversed()))
            #expect(tasks.map(\.isCancelled) == (0..<3).map { $0 > completing })
            for task in tasks { task.addCancellationHandler { called.add(3) } }
            #expect(called.entries.count(where: { $0 == 3 }) == 2 - completing)
        }
    }

    @Test func `a cancellation calls the handlers of the latest change first, each once`() throws {
        let (before, after, called) = (Keeper(), Keeper(), Journal<String>())
        before.load(request)
        let early = try #require(before.task)
        (ModifyRequest { $0.path += "x" } --> after).load(early)
        let late = try #require(after.task)
        late.addCancellationHandler {
            called.add("late")
            late.fail(.cancelled)
        }
        early.addCancellationHandler { called.add("early") }
        early.cancel()
        early.fail(.timedOut)
        #expect(called.entries == ["late", "early"] && early.codeNow == .cancelled)
    }

    @Test func `a cancellation or a completion that races with a handler's registration calls it once`() throws {
        for isCancelled in [true, false] {
            for _ in 0..<200 {
                let (before, after, called) = (Keeper(), Keeper(), Journal<Int>())
                before.load(request)
                let early = try #require(before.task)
                (ModifyRequest { $0.path += "x" } --> after).load(early)
                let late = try #require(after.task)
                race(2) { index in
                    if index == 0 {
                        late.addCancellationHandler { called.add(1) }
                    } else if isCancelled {
                        early.cancel()
                    } else {
                        early.fail(.timedOut)
                    }
                }
                early.fail(.timedOut)
                #expect(called.entries == [1])
            }
        }
    }

    @Test func `an earlier loader that completes the task ends what waits after it`() async throws {
        for link in Self.links {
            let (clock, throttle) = (ManualClock(), Throttle(maximum: 1))
            let retry = Retry(.custom { _ in .seconds(60) }, clock: clock)
            let pausing = attached(link, retry --> StubLoader(.response(503)))
            let waiting = attached(link, throttle --> StubLoader())
            waiting.load(request)
            for observed in [pausing.load(request), waiting.load(request)] {
                #expect(observed.peek() == nil && observed.fail(.timedOut))
                #expect(observed.codeNow == .timedOut)
            }
            #expect(throttle.waitingCount == 0)
            // A Swift task that sleeps may not have begun to when it is cancelled.
            try await eventually { clock.nextDeadline == nil }
        }
    }

    @Test func `an earlier loader that completes the task ends the transfer`() async throws {
        for loader in URLSessionLoader.each {
            let server = try LoopbackServer { _ in [.pause(.seconds(60))] }
            defer { server.stop() }
            let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(server.port))
            let observed = (ApplyEnvironment(environment) --> loader).load(request)
            try await eventually { server.requestCount == 1 }
            #expect(observed.fail(.timedOut))
            try await eventually { server.openConnectionCount == 0 }
        }
    }

    @Test func `nothing is left when all is over`() throws {
        let lifetimes = Lifetimes()
        for link in Self.links {
            let after = Keeper()
            let token = lifetimes.make()
            let observed = attached(link, after).load(request) { _ in token.touch() }
            try #require(after.task).addCancellationHandler { token.touch() }
            after.task?.succeed(.ok)
            after.forget()
            #expect(observed.statusNow == .ok)
        }
        #expect(lifetimes.count == 0)
    }

    @Test func `without a loader after it, the request cannot connect`() {
        for link in Self.links { #expect(link.load(request).codeNow == .cannotConnect) }
    }
}
