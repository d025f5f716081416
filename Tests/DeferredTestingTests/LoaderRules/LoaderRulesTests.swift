import DeferredCore
import DeferredHTTP
import DeferredTask
import DeferredTesting
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(2)))
struct LoaderRulesTests {
    @Test func `the loaders of the library keep the rules`() async {
        let loaders: [any HTTPLink] = [
            ResetGuard(), Autocancel(), Throttle(maximum: 1), Retry(), Deduplicate(), Validate(),
            DeferredHTTP.Log { _ in }, ModifyRequest { _ in }, ApplyEnvironment(.init(host: "host")),
            BasicAuthentication(user: "u", password: "p", hosts: ["example.com"]),
            BearerAuthentication(hosts: ["example.com"]) { _ in .success("t") },
            Intercept { try await $1($0) }, Deadline(.seconds(1_000)), RateLimit(requestsPerSecond: 1), Router(),
        ]
        for loader in loaders {
            let broken = await LoaderRules.broken(patience: .seconds(60)) { next in
                loader --> next()
            }
            #expect(broken == [], "\(type(of: loader))")
        }
        #expect(await LoaderRules.broken { Router(.host("other", $0()), .host("example.com", $0())) --> $0() } == [])
        #expect(await LoaderRules.broken { Fallback(to: $0()) --> Retry() --> $0() } == [])
    }

    private func broken(_ make: (any HTTPLoader) -> any HTTPLoader) async -> [String] {
        await LoaderRules.broken(patience: .milliseconds(1)) { make($0()) }
    }

    @Test func `a loader that forgets tasks`() async {
        struct Forgetting: HTTPLoader {
            func load(_ task: HTTPTask) {}
        }
        let found = await LoaderRules.broken { _ in Forgetting() }
        #expect(found == ["a task was neither completed nor passed on"])
    }

    @Test func `a loader that keeps tasks`() async {
        final class Keeping: HTTPLink {
            let tasks = Log<HTTPTask>()
            let isComplete: Bool

            init(isComplete: Bool) {
                self.isComplete = isComplete
            }

            func load(_ task: HTTPTask, next: any HTTPLoader) {
                tasks.add(task)
                if isComplete { task.pass(to: next) }
            }
        }
        let kept = await broken { Keeping(isComplete: true) --> Retry() --> $0 }
        #expect(kept == ["a task, or a handler of it, is kept after its completion"])
        let found = await broken { Keeping(isComplete: false) --> Retry() --> $0 }
        #expect(
            found == [
                "a task whose request was answered does not complete",
                "a task that was cancelled before it was loaded does not complete",
                "a cancelled task does not complete",
            ]
        )
    }

    @Test func `a loader that passes a task on twice, or when it has completed it`() async {
        struct Repeating: HTTPLink {
            let isComplete: Bool

            func load(_ task: HTTPTask, next: any HTTPLoader) {
                if isComplete { task.succeed(.ok) } else { next.load(task) }
                next.load(task)
            }
        }
        for isComplete in [false, true] {
            let found = await broken { Repeating(isComplete: isComplete) --> $0 }
            #expect(found.first == "a task is passed on when it is complete, or twice")
        }
    }

    @Test func `a loader that ignores a cancellation`() async {
        struct Ignoring: HTTPLoader {
            let next: any HTTPLoader
            var successors: [any HTTPLoader] { [next] }

            func load(_ task: HTTPTask) {
                next.load(task.request) { task.complete(with: $0) }
            }
        }
        let found = await broken { Ignoring(next: $0) }
        #expect(
            found == [
                "a cancelled task is passed on", "a cancelled task does not complete",
                "what was passed on for a cancelled task is not cancelled",
            ]
        )
    }

    @Test func `a loader that forgets its successors, or does not wait for them`() async {
        struct Both: HTTPLoader {
            let first: any HTTPLoader
            let second: any HTTPLoader
            func load(_ task: HTTPTask) { task.pass(to: first) }
            func reset() -> Future<Void> { first.reset() }
        }
        let found = await LoaderRules.broken(patience: .milliseconds(1)) { Both(first: $0(), second: $0()) }
        #expect(found == ["a reset does not reach 1 of 2 loaders after this one; see successors"])
        struct Hasty: HTTPLoader {
            let next: any HTTPLoader
            var successors: [any HTTPLoader] { [next] }
            func load(_ task: HTTPTask) { task.pass(to: next) }
            func reset() -> Future<Void> {
                _ = resetSuccessors()
                return Future(value: ())
            }
        }
        #expect(await broken { Hasty(next: $0) } == ["a reset ends before those of the loaders after this one"])
    }
}
