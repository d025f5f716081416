internal import DeferredCore
public import DeferredHTTP
internal import Foundation

/// Tests the rules that every `HTTPLoader` has to keep.
///
/// ```swift
/// @Test func `my loader keeps the rules`() async {
///     #expect(await LoaderRules.broken { next in Language(code: "de") --> next() } == [])
/// }
/// ```
///
/// The rules: a loader completes each task, or passes it on, once. It passes no cancelled task on, and a cancellation
/// reaches what was passed on. A reset comes to all loaders after it, and ends after theirs. Nothing of a task is kept when
/// it is complete.
public enum LoaderRules {
    /// Returns the rules that a loader breaks, each as a sentence; none for a good one.
    ///
    /// - Parameters:
    ///   - request: The request to load, which has to get through the loader.
    ///   - patience: How long to wait for what has to happen. A loader that keeps the rules makes nobody wait.
    ///   - make: Makes the loader; called for each rule. Its parameter returns a new terminal loader each time that it is
    ///     called: a composite calls it for each of its successors.
    public static func broken(
        with request: HTTPRequest = HTTPRequest(host: "example.com", path: "/"),
        patience: Duration = .seconds(5),
        by make: (_ next: () -> any HTTPLoader) -> any HTTPLoader
    ) async -> [String] {
        await completing(request, Subject(answering: true, make), patience)
            + cancellingBefore(request, Subject(answering: true, make), patience)
            + cancelling(request, Subject(answering: false, make), patience)
            + resetting(Subject(answering: true, make), patience)
    }

    private static func completing(_ request: HTTPRequest, _ subject: Subject, _ patience: Duration) async -> [String] {
        let loading = Loading(request, subject.loader)
        guard await wait(patience, until: { loading.result.isFilled }) else {
            return ["a task whose request was answered does not complete"]
        }
        if case .failure(let error)? = loading.result.peek(), error.code == .abandoned {
            return ["a task was neither completed nor passed on"]
        }
        let isGone = await wait(patience) { loading.isGone }
        let isComplete = subject.probes.contains { $0.completeCount > 0 }
        return (isComplete ? ["a task is passed on when it is complete, or twice"] : [])
            + (isGone ? [] : ["a task, or a handler of it, is kept after its completion"])
    }

    private static func cancellingBefore(
        _ request: HTTPRequest,
        _ subject: Subject,
        _ patience: Duration
    ) async -> [String] {
        let loading = Loading(request, subject.loader, isCancelled: true)
        let isComplete = await wait(patience) { loading.result.isFilled }
        return (isComplete ? [] : ["a task that was cancelled before it was loaded does not complete"])
            + (subject.probes.allSatisfy { $0.loadCount == 0 } ? [] : ["a cancelled task is passed on"])
    }

    private static func cancelling(_ request: HTTPRequest, _ subject: Subject, _ patience: Duration) async -> [String] {
        let loading = Loading(request, subject.loader)
        _ = await wait(patience) { loading.result.isFilled || subject.probes.contains { $0.loadCount > 0 } }
        loading.cancel()
        let isComplete = await wait(patience) { loading.result.isFilled }
        let areStopped = await wait(patience) { subject.probes.allSatisfy { $0.runningCount == 0 } }
        return (isComplete ? [] : ["a cancelled task does not complete"])
            + (areStopped ? [] : ["what was passed on for a cancelled task is not cancelled"])
    }

    private static func resetting(_ subject: Subject, _ patience: Duration) async -> [String] {
        let reset = subject.loader.reset()
        let isForwarded = await wait(patience) { subject.probes.allSatisfy { $0.resetCount > 0 } }
        guard isForwarded else {
            let count = subject.probes.count { $0.resetCount == 0 }
            return ["a reset does not reach \(count) of \(subject.probes.count) loaders after this one; see successors"]
        }
        if reset.isFilled, !subject.probes.isEmpty {
            return ["a reset ends before those of the loaders after this one"]
        }
        for probe in subject.probes { probe.endReset() }
        return await wait(patience) { reset.isFilled } ? [] : ["a reset does not end"]
    }

    private static func wait(_ patience: Duration, until condition: () -> Bool) async -> Bool {
        let end = ContinuousClock.now + patience
        var pause = Duration.microseconds(10)
        while !condition() {
            if ContinuousClock.now > end { return false }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(10))
        }
        return true
    }
}

/// A loader to test, and the terminal loaders after it.
private struct Subject {
    let loader: any HTTPLoader
    let probes: [Probe]

    init(answering isAnswering: Bool, _ make: (() -> any HTTPLoader) -> any HTTPLoader) {
        var probes: [Probe] = []
        loader = make {
            let probe = Probe(isAnswering: isAnswering)
            probes.append(probe)
            return probe
        }
        self.probes = probes
    }
}

/// A terminal loader that answers at once, or when its task is cancelled, and whose reset ends when the test says so.
private final class Probe: HTTPLoader {
    private let isAnswering: Bool
    private let counts = Lock((loads: 0, complete: 0, running: 0, resets: 0))
    private let resetEnd = Deferred<Void>()

    init(isAnswering: Bool) {
        self.isAnswering = isAnswering
    }

    var loadCount: Int { counts.withLock { $0.loads } }
    /// The number of tasks that were complete when they came.
    var completeCount: Int { counts.withLock { $0.complete } }
    var runningCount: Int { counts.withLock { $0.running } }
    var resetCount: Int { counts.withLock { $0.resets } }

    func load(_ task: HTTPTask) {
        if task.isFilled { return counts.withLock { $0.complete += 1 } }
        if task.failIfCancelled() { return }
        counts.withLock { counts in
            counts.loads += 1
            counts.running += 1
        }
        task.addCompletionHandler { _ in self.counts.withLock { $0.running -= 1 } }
        if isAnswering {
            task.complete(with: StubLoader.Answer.Body.data(Data()).result(.ok, [:], of: task.request))
        } else {
            // Kept by the handler, as a transfer would keep it.
            task.addCancellationHandler { task.fail(.cancelled) }
        }
    }

    func reset() -> Future<Void> {
        counts.withLock { $0.resets += 1 }
        return resetEnd.future
    }

    func endReset() { resetEnd.fill() }
}

/// One loading of a request, whose task belongs to the loader alone.
private final class Loading: Sendable {
    private final class Token: Sendable {}

    private struct References: Sendable {
        weak var task: HTTPTask?
        weak var token: Token?
    }

    let result = Deferred<HTTPResult>()
    private let references: Lock<References>

    init(_ request: HTTPRequest, _ loader: any HTTPLoader, isCancelled: Bool = false) {
        let (task, token) = (HTTPTask(request), Token())
        references = Lock(References(task: task, token: token))
        task.addCompletionHandler { [result] in
            _ = result.fill(with: $0)
            withExtendedLifetime(token) {}
        }
        task.addCancellationHandler { withExtendedLifetime(token) {} }
        if isCancelled { task.cancel() }
        loader.load(task)
    }

    /// True if neither the task nor its handlers are kept.
    var isGone: Bool { references.withLock { $0.task == nil && $0.token == nil } }

    func cancel() {
        references.withLock { $0.task }?.cancel()
    }
}
