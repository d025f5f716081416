import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import DeferredTesting
import Foundation
import TestSupport

/// Builds the chains of a scenario, and writes its custom loaders: the only file that knows how loaders are joined and
/// what a loader has to implement.
struct ChainAdapter {
    let scenario: Scenario
    let record: ChainRecord
    private var shared: [Int: any HTTPLink] = [:]

    init(_ scenario: Scenario, _ record: ChainRecord) {
        (self.scenario, self.record) = (scenario, record)
    }

    /// Returns the chains in which requests are loaded.
    mutating func chains() -> [any HTTPLoader] {
        let side = chain(Scenario.sideChain, leadingTo: nil)
        return (0..<Scenario.sideChain).map { chain($0, leadingTo: side) }
    }

    private mutating func chain(_ index: Int, leadingTo side: (any HTTPLoader)?) -> any HTTPLoader {
        let chain = scenario.chains[index]
        let terminal = chain.hasTerminal ? Network(index, chain.resetsLater, record) : nil
        var loaders: [any HTTPLoader] = []
        for value in chain.links {
            if let link = shared[value] {
                loaders.append(link)
            } else {
                let link = makeLink(value, side)
                shared[value] = link
                loaders.append(link)
            }
        }
        if let terminal { loaders.append(terminal) }
        switch chain.joining {
        case .existential: return joined(loaders) { Self.joinExistentials($0, $1) }
        case .generic: return joined(loaders) { Self.join($0, $1) }
        case .replacing:
            guard terminal != nil, loaders.count > 1 else { return joined(loaders) { Self.join($0, $1) } }
            let other = joined(loaders.dropLast() + [StubLoader()]) { Self.join($0, $1) }
            return (other as? any HTTPLink).map { Self.join($0, loaders[loaders.count - 1]) } ?? other
        case .leftToRight:
            return loaders.dropFirst().reduce(loaders[0]) { chain, next in
                Self.join(chain, next)
            }
        }
    }

    private func joined(
        _ loaders: [any HTTPLoader],
        _ join: (any HTTPLoader, any HTTPLoader) -> any HTTPLoader
    ) -> any HTTPLoader {
        loaders.dropLast().reversed().reduce(loaders[loaders.count - 1]) { join($1, $0) }
    }

    private static func joinExistentials(_ link: any HTTPLoader, _ next: any HTTPLoader) -> any HTTPLoader {
        (link as? any HTTPLink).map { $0 --> next } ?? link
    }

    private static func join(_ link: any HTTPLoader, _ next: any HTTPLoader) -> any HTTPLoader {
        guard let link = link as? any HTTPLink else { return link }
        return joinGenerically(link, next)
    }

    private static func joinGenerically<Link: HTTPLink>(_ link: Link, _ next: some HTTPLoader) -> any HTTPLoader {
        link --> next
    }

    private func makeLink(_ value: Int, _ side: (any HTTPLoader)?) -> any HTTPLink {
        let (record, clock) = (record, record.clock)
        let side = side ?? EndOfSide()
        switch scenario.values[value] {
        case .resetGuard: return ResetGuard()
        case .autocancel: return Autocancel(grace: .microseconds(Scenario.grace(value)), clock: clock)
        case .deduplicate:
            let deduplicate = Deduplicate()
            record.count { $0.merged[value] = deduplicate.mergedCount }
            return deduplicate
        case .validate: return Validate()
        case .basic: return BasicAuthentication(user: "u", password: "p", hosts: ["b"])
        case .bearer: return BearerAuthentication(hosts: ["a"]) { record.refresh(value, $0) }
        case .followRedirects: return FollowRedirects(atMost: Scenario.redirectLimit)
        case .log: return DeferredHTTP.Log { _ in record.note { $0.lines[value, default: 0] += 1 } }
        case .intercept: return Intercept { try await $1($0) }
        case .rateLimit: return RateLimit(requestsPerSecond: 1e9, burst: 1_000)
        case .retry(let attempts, let pauses):
            let strategy = RetryStrategy.custom { attempt in
                let isTransient = [.connectionLost, .timedOut].contains(attempt.error?.code)
                guard isTransient || attempt.response?.status == 503, attempt.number < attempts else { return nil }
                guard pauses else { return .zero }
                return .microseconds(Scenario.pause(attempt.number, record.ask(of: attempt.request), value))
            }
            return Retry(strategy, clock: clock)
        case .backoff(let attempts): return Retry(.backoff(attempts: attempts, random: { 0 }), clock: clock)
        case .throttle(let maximum):
            let throttle = Throttle(maximum: maximum)
            record.count { $0.waiting[value] = throttle.waitingCount }
            return throttle
        case .modify(let refused):
            return ModifyRequest { request in
                if request.path == "/\(refused ?? -1)" { throw Refused() }
                request.mark(value)
            }
        case .environment:
            return ApplyEnvironment(HTTPEnvironment(host: "e", pathPrefix: "/v", headers: ["X-Environment": "e"]))
        case .deadline: return Deadline(.microseconds(Scenario.limit(0, value, false)), clock: clock)
        case .fallback: return Fallback(to: side)
        case .router: return Router(.host("b", side))
        case .custom(let custom) where [.object, .passingObject].contains(custom):
            return CustomObject(custom, value)
        case .custom(let custom): return CustomLink(custom: custom, value: value, record: record)
        }
    }
}

private struct Refused: Error {}

/// Never loaded: a side chain leads to no other.
private struct EndOfSide: HTTPLoader {
    func load(_ task: HTTPTask) { task.fail(.unknown) }
}

/// An object that marks requests, or passes them on as they are.
private final class CustomObject: HTTPLink {
    private let custom: Scenario.Custom
    private let value: Int

    init(_ custom: Scenario.Custom, _ value: Int) {
        (self.custom, self.value) = (custom, value)
    }

    func load(_ task: HTTPTask, next: any HTTPLoader) {
        if custom == .passingObject { task.pass(to: next) } else { task.pass(task.request.marked(value), to: next) }
    }
}

private struct CustomLink: HTTPLink {
    let custom: Scenario.Custom
    let value: Int
    let record: ChainRecord

    func load(_ task: HTTPTask, next: any HTTPLoader) {
        switch custom {
        case .same, .passingObject: task.pass(to: next)
        case .mark, .object: task.pass(task.request.marked(value), to: next)
        case .watch: watch(task, next)
        case .empty:
            task.pass(task.request, to: next) { result in
                guard case .success(let response) = result, response.status == 404 else {
                    return _ = task.complete(with: result)
                }
                response.stream?.cancel()
                task.succeed(.ok)
            }
        case .again:
            task.pass(task.request, to: next) { result in
                guard case .success(let response) = result, response.status == 503 else {
                    return _ = task.complete(with: result)
                }
                response.stream?.cancel()
                task.pass(task.request, to: next)
            }
        case .answer:
            if task.request.path != "/2" { task.pass(to: next) } else if !task.failIfCancelled() { task.succeed(204) }
        case .drop: if task.request.path != "/2" { task.pass(to: next) }
        case .twice:
            task.pass(task.request, to: next) { [record] result in
                task.complete(with: result)
                if task.fail(.unknown) { record.note { $0.wrong.append("completed twice") } }
            }
        case .hold: hold(task, next)
        }
    }

    private func watch(_ task: HTTPTask, _ next: any HTTPLoader) {
        let (ask, value, record) = (record.ask(of: task.request), value, record)
        record.fire(value, ask, isReturn: false)
        for number in 0..<2 {
            task.addCancellationHandler { [token = record.lifetimes.make()] in
                token.touch()
                record.note { $0.cancels[ask, default: []].append("\(value) \(number)") }
            }
            task.addCompletionHandler { [token = record.lifetimes.make()] _ in
                token.touch()
                record.note { $0.completions[ask, default: []].append("\(value) \(number)") }
            }
        }
        task.pass(task.request, to: next) { [token = record.lifetimes.make()] result in
            token.touch()
            record.note { $0.results[ask, default: []].append("\(value)") }
            record.fire(value, ask, isReturn: true)
            task.complete(with: result)
        }
    }

    private func hold(_ task: HTTPTask, _ next: any HTTPLoader) {
        if task.failIfCancelled() { return }
        let (number, value) = (record.nextNumber(), value)
        let registration = task.addCancellationHandler { [weak task] in task?.fail(.cancelled) }
        record.keep(value, number) {
            registration.cancel()
            task.pass(to: next)
        }
        task.addCompletionHandler { [record] _ in record.letGo(value, number) }
    }
}

/// The terminal loader: notes what it is to send, and answers now or when a step says so.
private final class Network: HTTPLoader {
    private let index: Int
    private let resetsLater: Bool
    private let record: ChainRecord
    private let token: any AnyObject & Sendable

    init(_ index: Int, _ resetsLater: Bool, _ record: ChainRecord) {
        (self.index, self.resetsLater, self.record) = (index, resetsLater, record)
        token = record.lifetimes.make()
    }

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let name = record.sent(task, to: index)
        let answer = record.scenario.answer(name)
        guard answer.isHeld else { return record.finish(task, name, answer.outcome) }
        task.addCancellationHandler { [record, weak task] in
            record.note { $0.stopped.insert("\(name)") }
            if answer.ignoresCancel { return }
            record.release(name)
            task?.fail(.cancelled)
        }
        task.addCompletionHandler { [record] _ in record.completed(name, keeps: answer.ignoresCancel) }
    }

    func reset() -> Future<Void> {
        record.note { $0.terminalResets[index] += 1 }
        guard resetsLater else { return Future(value: ()) }
        let end = Deferred<Void>()
        record.addReset(index, end)
        return end.future
    }
}

extension HTTPRequest {
    fileprivate func marked(_ value: Int) -> HTTPRequest {
        var request = self
        request.mark(value)
        return request
    }

    fileprivate mutating func mark(_ value: Int) {
        headers["X-Mark"] = (headers["X-Mark"].map { $0 + "." } ?? "") + "\(value)"
    }
}
