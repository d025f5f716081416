import DeferredCore
import DeferredHTTP
import DeferredNetworking
import DeferredTask
import Foundation
import TestSupport

/// What a run of a scenario on the library shows, and what its network, its loaders and its token refreshes hold.
///
/// SAFETY: `lock` is held for everything that changes. Nothing is called or released under it.
final class ChainRecord: @unchecked Sendable {
    let scenario: Scenario
    let clock = ScenarioClock()
    let lifetimes = Lifetimes()
    private let lock = NSLock()
    private var seen = Seen()
    private var asks: [UUID: Int] = [:]
    private var exchanges: [Int: Int] = [:]
    private var held: [ExchangeName: HTTPTask] = [:]
    private var feeds: [ExchangeName: AsyncStream<Data>.Continuation] = [:]
    private var resets: [Int: [Deferred<Void>]] = [:]
    private var kept: [Int: [(number: Int, goOn: @Sendable () -> Void)]] = [:]
    private var refreshes: [Int: DeferredTask.Task<String>.Promise] = [:]
    private var refreshCount = 0
    private var lastNumber = 0
    private var fired: Set<Int> = []
    private var counters: [@Sendable (inout Seen) -> Void] = []
    private var perform: (@Sendable (Scenario.Deed) -> Void)?

    init(_ scenario: Scenario) {
        self.scenario = scenario
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    func note(_ change: (inout Seen) -> Void) { locked { change(&seen) } }

    /// Adds a counter of the library, which is read whenever somebody looks.
    func count(_ read: @escaping @Sendable (inout Seen) -> Void) { locked { counters.append(read) } }

    /// What there is to see now.
    var current: Seen {
        var (seen, counters) = locked { (self.seen, self.counters) }
        for counter in counters { counter(&seen) }
        for (value, loader) in scenario.values.enumerated() where loader == .log { seen.lines[value, default: 0] += 0 }
        for (value, loader) in scenario.values.enumerated() {
            if case .throttle = loader { seen.waiting[value, default: 0] += 0 }
            if loader == .deduplicate { seen.merged[value, default: 0] += 0 }
        }
        return seen
    }

    func nextNumber() -> Int {
        locked {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Lets go of everything that refers to the library.
    func end() {
        // Those that a failure has left.
        for end in locked({ resets }).values.joined() { end.fill() }
        let all: [Any] = locked {
            let all: [Any] = [held, feeds, resets, kept, refreshes, counters, perform as Any]
            (held, feeds, resets, kept, refreshes, counters, perform) = ([:], [:], [:], [:], [:], [], nil)
            return all
        }
        withExtendedLifetime(all) {}
    }

    // MARK: - Requests

    func add(_ request: HTTPRequest, _ number: Int) { locked { asks[request.id] = number } }

    func ask(of request: HTTPRequest) -> Int { locked { asks[request.id] ?? -1 } }

    /// Notes a request, and keeps its task if the answer comes later.
    func sent(_ task: HTTPTask, to terminal: Int) -> ExchangeName {
        let request = task.request
        let ask = ask(of: request)
        let text = ChainModel.Sent.text(
            request.method == .post,
            request.host,
            request.path,
            request.headers["X-Mark"] ?? "",
            request.headers["Authorization"],
            request.headers["X-Environment"] != nil
        )
        return locked {
            let name = ExchangeName(ask: ask, number: exchanges[ask, default: 0])
            exchanges[ask] = name.number + 1
            seen.sent.append("\(name) T\(terminal) \(text)")
            if scenario.answer(name).isHeld { held[name] = task }
            return name
        }
    }

    @discardableResult
    func release(_ name: ExchangeName) -> HTTPTask? { locked { held.removeValue(forKey: name) } }

    /// Notes that a task is complete; somebody else has done that if the network still holds it.
    func completed(_ name: ExchangeName, keeps: Bool) {
        let gone = locked {
            if held[name] != nil { seen.stopped.insert("\(name)") }
            return keeps ? nil : held.removeValue(forKey: name)
        }
        withExtendedLifetime(gone) {}
    }

    func finish(_ task: HTTPTask, _ name: ExchangeName, _ outcome: Scenario.Outcome) {
        var (status, headers) = (HTTPStatus.ok, HTTPHeaders())
        headers["X-Exchange"] = "\(name)"
        switch outcome {
        case .status(let code): status = HTTPStatus(code)
        case .redirect(let isAway):
            status = 302
            headers["Location"] = isAway ? "https://elsewhere/moved" : "/moved"
        case .connectionLost: return _ = task.fail(.connectionLost)
        case .cannotConnect: return _ = task.fail(.cannotConnect)
        case .release: return
        }
        guard task.request.delivery == .stream else { return _ = task.succeed(status, headers: headers) }
        let (bytes, feed) = AsyncStream<Data>.makeStream()
        feed.yield(Data("bytes".utf8))
        locked { feeds[name] = feed }
        let stream = HTTPBodyStream(bytes) { [self, token = lifetimes.make()] in
            token.touch()
            note { $0.cancelledBodies.insert("\(name)") }
        }
        task.complete(with: .success(.init(request: task.request, status: status, headers: headers, stream: stream)))
    }

    func feed(_ name: ExchangeName) -> AsyncStream<Data>.Continuation? { locked { feeds[name] } }

    // MARK: - What waits

    func addReset(_ terminal: Int, _ end: Deferred<Void>) { locked { resets[terminal, default: []].append(end) } }

    func endReset(_ terminal: Int) {
        let first: Deferred<Void>? = locked {
            resets[terminal]?.isEmpty == false ? resets[terminal]?.removeFirst() : nil
        }
        first?.fill()
    }

    func keep(_ value: Int, _ number: Int, _ goOn: @escaping @Sendable () -> Void) {
        locked {
            kept[value, default: []].append((number, goOn))
            seen.kept[value] = kept[value]?.count
        }
    }

    func letGo(_ value: Int, _ number: Int) {
        let gone: (@Sendable () -> Void)? = locked {
            guard let index = kept[value]?.firstIndex(where: { $0.number == number }) else { return nil }
            seen.kept[value, default: 0] -= 1
            return kept[value]?.remove(at: index).goOn
        }
        withExtendedLifetime(gone) {}
    }

    func letGo(_ value: Int) {
        let goOn: (@Sendable () -> Void)? = locked {
            guard kept[value]?.isEmpty == false else { return nil }
            seen.kept[value, default: 0] -= 1
            return kept[value]?.removeFirst().goOn
        }
        goOn?()
    }

    func refresh(_ value: Int, _ refused: String?) -> DeferredTask.Task<String> {
        let number = locked { () -> Int in
            seen.refreshes.append("\(value) \(refused ?? "-")")
            refreshCount += 1
            return refreshCount - 1
        }
        let refresh = scenario.refresh(number)
        guard refresh.isHeld else { return refresh.succeeds ? .success("t\(number)") : .failure(NoToken()) }
        let promise = DeferredTask.Task<String>.Promise()
        locked { refreshes[number] = promise }
        return DeferredTask.Task(promise.future) { [weak self] in
            if !refresh.ignoresCancel { self?.endRefresh(number, succeeds: false) }
        }
    }

    func endRefresh(_ number: Int, succeeds: Bool) {
        let promise = locked { refreshes.removeValue(forKey: number) }
        if succeeds { promise?.succeed(with: "t\(number)") } else { promise?.fail(with: NoToken()) }
    }

    private struct NoToken: Error {}

    /// Actions that end something that waits now.
    var endings: [Action] {
        locked {
            held.keys.sorted().map { .answer($0, .status(204)) }
                + resets.filter { !$0.value.isEmpty }.keys.sorted().map { .endReset(terminal: $0) }
                + refreshes.keys.sorted().map { .endRefresh($0, succeeds: true) }
                + kept.filter { !$0.value.isEmpty }.keys.sorted().map { .letGo(value: $0) }
        }
    }

    // MARK: - Triggers

    func onDeed(_ perform: @escaping @Sendable (Scenario.Deed) -> Void) { locked { self.perform = perform } }

    func fire(_ value: Int, _ ask: Int, isReturn: Bool) {
        for (index, trigger) in scenario.triggers.enumerated()
        where trigger.value == value && trigger.ask == ask && trigger.isReturn == isReturn {
            let perform: (@Sendable (Scenario.Deed) -> Void)? = locked {
                fired.insert(index).inserted ? self.perform : nil
            }
            perform?(trigger.deed)
        }
    }
}
