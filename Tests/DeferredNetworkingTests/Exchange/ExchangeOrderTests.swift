import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client's state machines, with threads that take steps in any order.
///
/// A thread takes the steps that result from one step before its next one.
private struct Simulation {
    enum Step {
        case begin(UInt64)
        case abort(UInt64)
        case attemptEnded(UInt64, task: Int)
        case judged(UInt64, isLost: Bool)
        case left(UInt64)
        case steppedAside(UInt64)
        case pauseBegan(UInt64, round: Int)
        case pauseEnded(UInt64, round: Int)
        case shutdown
        case request(UInt64, ExchangeStateMachine.Step)
        case action(UInt64, ExchangeStateMachine.Action)
        case admitted(UInt64)
        case refused(UInt64)
        case released
    }

    private var admission: AdmissionStateMachine
    private var machines: [UInt64: ExchangeStateMachine] = [:]
    private var registered: Set<UInt64> = []

    /// The requests that have a place.
    private var running: Set<UInt64> = []

    /// The requests that retain the engine.
    private var retains: Set<UInt64> = []
    private(set) var mostRunning = 0
    private(set) var ends: [UInt64: Int] = [:]
    private(set) var threads: [[Step]] = []

    var isClosed: Bool { admission.state == .closed }

    /// - Parameter count: The number of requests, each with a deadline and a cancellation at any time.
    init(limit: Int?, count: UInt64, yieldsPlace: Bool) {
        admission = AdmissionStateMachine(limit: limit)
        var retries = URLClient.Retries()
        retries.attempts = 2
        retries.yieldsPlace = yieldsPlace
        for identifier in 0..<count {
            machines[identifier] = ExchangeStateMachine(
                .checked(URLRequest(url: URL(string: "http://host/") ?? URL(filePath: "/"))),
                RequestPolicies(retries: retries)
            )
            threads += [[.begin(identifier)], [.abort(identifier)], [.abort(identifier)]]
        }
        threads.append([.shutdown])
    }

    /// Takes the next step of one thread.
    mutating func step(_ thread: Int) {
        let step = threads[thread].removeFirst()
        threads[thread].insert(contentsOf: steps(after: step), at: 0)
        threads.removeAll(where: \.isEmpty)
    }

    private mutating func steps(after step: Step) -> [Step] {
        switch step {
        case .begin(let identifier): feed(identifier) { $0.begin() }
        case .abort(let identifier): feed(identifier) { $0.cancel(with: URLClientError.deadlineExceeded) }
        case .attemptEnded(let identifier, let task):
            feed(identifier) {
                // The first attempt of every other request fails.
                let error = task == 1 && identifier % 2 == 0 ? URLError(.networkConnectionLost) : nil
                let head = ResponseHead.made(200)
                $0.received(head, task: task)
                $0.completed(task: task, head: head, error: error)
            }
        case .judged(let identifier, let isLost):
            feed(identifier) {
                let failure = URLError(.networkConnectionLost)
                let outcome: ExchangeStateMachine.Outcome = isLost ? .failure(failure) : .success(.file(.made(200)))
                $0.judged(outcome, pause: $0.question(after: outcome)?(Date()))
            }
        case .left(let identifier): leave(identifier)
        case .steppedAside(let identifier): stepAside(identifier)
        case .pauseBegan(let identifier, let round):
            {
                threads.append([.pauseEnded(identifier, round: round)]); return []
            }()
        case .pauseEnded(let identifier, let round): feed(identifier) { $0.pauseEnded(round: round) }
        case .shutdown: steps(after: admission.close())
        case .released: steps(after: admission.released())
        case .admitted(let identifier): start(identifier)
        case .refused(let identifier): feed(identifier) { $0.cancel(with: URLClientError.shutDown) }
        case .request(let identifier, let step): perform(step, of: identifier)
        case .action(let identifier, let action): perform(action, of: identifier)
        }
    }

    /// Takes the step under the lock of the transport that follows an event of the admission.
    private mutating func steps(after action: AdmissionStateMachine.Action?) -> [Step] {
        switch action {
        case nil, .invalidate?: []
        case .refuse(let identifier)?:
            {
                registered.remove(identifier); return [.refused(identifier)]
            }()
        // One that starts has not left, and the engine is still there: otherwise, it would not end here.
        case .start(let identifier)?: registered.contains(identifier) && !isClosed ? [.admitted(identifier)] : []
        }
    }

    private mutating func start(_ identifier: UInt64) -> [Step] {
        // One that has left meanwhile has given its place away.
        if registered.contains(identifier) { running.insert(identifier) }
        mostRunning = max(mostRunning, running.count)
        // One that has ended meanwhile, or retains it already, needs no reference.
        let isNeeded = machines[identifier]?.hasEnded == false && retains.insert(identifier).inserted
        return feed(identifier) { $0.admitted() } + (isNeeded ? [] : [.released])
    }

    private mutating func leave(_ identifier: UInt64) -> [Step] {
        guard registered.remove(identifier) != nil else { return [] }
        running.remove(identifier)
        return steps(after: admission.left(identifier))
    }

    private mutating func stepAside(_ identifier: UInt64) -> [Step] {
        guard registered.contains(identifier) else { return [] }
        running.remove(identifier)
        return steps(after: admission.steppedAside(identifier))
    }

    private mutating func feed(
        _ identifier: UInt64,
        _ event: (inout ExchangeStateMachine) -> Void
    ) -> [Step] {
        guard var machine = machines[identifier] else { return [] }
        defer { machines[identifier] = machine }
        event(&machine)
        let reaction = machine.takeReaction()
        return reaction.actions.map { .action(identifier, $0) }
            + (reaction.step.map { [.request(identifier, $0)] } ?? [])
    }

    /// Performs an action as an `Exchange` does: those of one thread, in order.
    private mutating func perform(_ action: ExchangeStateMachine.Action, of identifier: UInt64) -> [Step] {
        switch action {
        case .prepare(let request, _):
            return feed(identifier) { machine in
                if let next = try? machine.prepared(request) {
                    machine.actions.append(.startTask(next.request, next.task))
                }
            }
        case .startTask(_, let task):
            threads.append([.attemptEnded(identifier, task: task)])
            return []
        case .endAttempt(let result):
            let isLost = if case .failure = result { true } else { false }
            return [.judged(identifier, isLost: isLost)]
        case .release:
            return retains.remove(identifier) == nil ? [] : [.released]
        case .storeCookies, .reportChallenge, .cancelTask, .answerRedirect, .askAboutRedirect, .askAboutChallenge,
            .deliverInterim,
            .deliverHead, .deliverBytes, .reportSent, .deliverEnd:
            return []
        }
    }

    /// Performs a step as an `Exchange` and its `Transport` do.
    private mutating func perform(_ step: ExchangeStateMachine.Step, of identifier: UInt64) -> [Step] {
        switch step {
        case .arrive:
            // Under one lock.
            registered.insert(identifier)
            return steps(after: admission.arrived(identifier, origin: "host"))
        case .leave:
            return [.left(identifier)]
        case .finish:
            ends[identifier, default: 0] += 1
            return [.left(identifier)]
        case .pause(_, _, let round, _):
            let yieldsPlace = machines[identifier]?.policies.retries.yieldsPlace == true
            return (yieldsPlace ? [.steppedAside(identifier)] : []) + [.pauseBegan(identifier, round: round)]
        case .comeBack:
            return steps(after: admission.cameBack(identifier))
        case .ask, .deliver, .finishStream:
            return []
        }
    }
}

@Suite("Orders of deadline, arrival, cancellation and shutdown", .ownThread, .timeLimit(.minutes(5)))
struct ExchangeOrderTests {
    @Test(arguments: [nil, 1, 2])
    func `in any order each request ends once, and the client closes`(limit: Int?) {
        for seed in 0..<UInt64(rounds(10_000)) {
            var random = SeededGenerator(seed: seed)
            let count = 1 + random.next() % 3
            var simulation = Simulation(limit: limit, count: count, yieldsPlace: random.next() % 2 == 0)
            while !simulation.threads.isEmpty {
                simulation.step(Int(random.next() % UInt64(simulation.threads.count)))
            }
            guard simulation.isClosed, simulation.ends == .init(uniqueKeysWithValues: (0..<count).map { ($0, 1) }),
                simulation.mostRunning <= limit ?? .max
            else {
                let ends = "ends \(simulation.ends), at most \(simulation.mostRunning) running"
                Issue.record("seed \(seed): closed \(simulation.isClosed), \(ends)")
                return
            }
        }
    }
}
