import DeferredCore
import DeferredHTTP
import DeferredNetworking
import Dispatch
import Foundation
import TestSupport

/// Performs the actions of a scenario on the library.
///
/// SAFETY: `lock` guards what changes, as timers and closures of `Intercept` run on other threads.
final class ChainRun: @unchecked Sendable {
    let record: ChainRecord
    private let scenario: Scenario
    private var chains: [any HTTPLoader]
    private let lock = NSLock()
    private var weakTasks: [Int: WeakTask] = [:]
    private var handles: [Int: HTTPTask] = [:]
    private var results: [Int: HTTPResult] = [:]
    private var cancelled: Set<Int> = []
    private var complete: Set<Int> = []
    private var hasReturned: Set<Int> = []
    private var resetCount = 0

    private struct WeakTask {
        weak var task: HTTPTask?
    }

    init(_ scenario: Scenario) {
        self.scenario = scenario
        record = ChainRecord(scenario)
        var adapter = ChainAdapter(scenario, record)
        chains = adapter.chains()
        record.onDeed { [weak self] in self?.perform($0) }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body()
    }

    /// What there is to see now.
    var seen: Seen {
        var seen = record.current
        let now = locked { self.handles }.filter { $0.value.isCancelled }.keys
        seen.cancelled = locked { () -> Set<Int> in
            cancelled.formUnion(now)
            return cancelled
        }
        return seen
    }

    func perform(_ action: Action) {
        switch action {
        case .load(let number): load(number)
        case .deed(let deed): perform(deed)
        case .answer(let name, let outcome):
            guard let task = record.release(name) else { return }
            record.finish(task, name, outcome)
        case .endReset(let terminal): record.endReset(terminal)
        case .endRefresh(let number, let succeeds): record.endRefresh(number, succeeds: succeeds)
        case .letGo(let value): record.letGo(value)
        case .advance(let microseconds): record.clock.advance(microseconds)
        case .endBody(let name, let end, let ask): endBody(name, end, ask)
        }
    }

    private func perform(_ deed: Scenario.Deed) {
        switch deed {
        case .cancel(let number): handle(number)?.cancel()
        case .complete(let number): handle(number)?.fail(.timedOut)
        case .reset(let chain):
            let (number, before) = locked {
                defer { resetCount += 1 }
                return (resetCount, hasReturned)
            }
            record.note { $0.resets[number] = [] }
            chains[chain].reset().upon(.immediate) { [self] in
                let open = locked { before.filter { scenario.asks[$0].chain == chain && !complete.contains($0) } }
                    .filter { handle($0)?.isFilled == false }
                let text = scenario.resetsFirst(chain) ? "\(open.sorted())" : ""
                record.note { $0.resets[number]?.append(text) }
            }
        }
    }

    private func handle(_ number: Int) -> HTTPTask? { locked { handles[number] ?? weakTasks[number]?.task } }

    private func load(_ number: Int) {
        let ask = scenario.asks[number]
        let request = request(number)
        record.add(request, number)
        let token = record.lifetimes.make()
        let note: @Sendable (HTTPResult) -> Void = { [self] result in
            token.touch()
            locked {
                results[number] = result
                complete.insert(number)
            }
            record.note { $0.ends[number, default: []].append(result.text) }
        }
        switch ask.form {
        case .task:
            let task = HTTPTask(request)
            locked { weakTasks[number] = WeakTask(task: task) }
            task.addCompletionHandler(note)
            if ask.isCancelledBefore { task.cancel() }
            chains[ask.chain].load(task)
        case .request:
            let handle = chains[ask.chain].load(request)
            locked { handles[number] = handle }
            handle.addCompletionHandler(note)
        case .closure:
            let handle = chains[ask.chain].load(request, completion: note)
            locked { handles[number] = handle }
        }
        _ = locked { hasReturned.insert(number) }
    }

    private func request(_ number: Int) -> HTTPRequest {
        let ask = scenario.asks[number]
        var request = HTTPRequest(ask.isPost ? .post : .get, host: ask.host, path: "/\(ask.path)")
        if ask.isStream { request.delivery = .stream }
        if !ask.isThrottled { request.isThrottled = false }
        if let isDeduplicated = ask.isDeduplicated { request.isDeduplicated = isDeduplicated }
        if !ask.isAuthenticated { request.isAuthenticated = false }
        if !ask.isRetried { request.retryStrategy = .never }
        if ask.hasDeadline { request.deadline = .microseconds(Scenario.limit(number, 0, true)) }
        return request
    }

    private func endBody(_ name: ExchangeName, _ end: Scenario.BodyEnd, _ ask: Int) {
        // With several threads, the handle can come after a result that was dropped.
        let result = locked { results[ask] } ?? handle(ask)?.peek()
        let stream = result?.arrived?.stream
        switch end {
        case .cancel: stream?.cancel()
        case .drop: drop(ask)
        case .read:
            record.feed(name)?.finish()
            let end = DispatchSemaphore(value: 0)
            _Concurrency.Task { [record] in
                let bytes = try? await stream?.collect()
                if bytes != Data("bytes".utf8) { record.note { $0.wrong.append("\(name) has another body") } }
                end.signal()
            }
            end.wait()
        }
    }

    private func drop(_ ask: Int) {
        let gone = locked {
            if handles[ask]?.isCancelled == true { cancelled.insert(ask) }
            return (handles.removeValue(forKey: ask), results.removeValue(forKey: ask))
        }
        withExtendedLifetime(gone) {}
    }

    /// Lets go of everything, so that what is still alive then is kept by the library.
    func end() {
        record.end()
        let gone = locked {
            defer { (handles, results, chains) = ([:], [:], []) }
            return (handles, results, chains)
        }
        withExtendedLifetime(gone) {}
    }

    /// True if nothing is left of the tasks, their handlers and the loaders.
    var isGone: Bool { record.lifetimes.count == 0 && locked { weakTasks.values.allSatisfy { $0.task == nil } } }
}

extension HTTPResult {
    fileprivate var arrived: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// The same words as those of a ``ChainModel/Ending``.
    fileprivate var text: String {
        var code: String?
        if case .failure(let error) = self { code = error.code.rawValue }
        return ChainModel.Ending.text(code, arrived?.status.code, arrived?.headers["X-Exchange"])
    }
}
