#if DEBUG
import DeferredCore
import Foundation

/// Runs a few actors in every order in which their atomic steps can be taken.
///
/// Each actor is a thread, but only the one that holds the baton runs, up to its next atomic operation; there it
/// chooses the next actor. A run is repeated from the start for each schedule, depth first.
///
/// Two orders of steps that commute (on different words, or both only reading) lead to the same states, so that only
/// one of them is run: *sleep sets*, Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems",
/// 1996. They skip only repetitions; every reachable state is reached. Steps are taken one after another: the effects
/// of weaker memory orderings are left to ThreadSanitizer and the stress tests.
///
/// Actors of many steps have too many interleavings. Then only those are run in which few actors are interrupted, which
/// are the ones that find most defects: Musuvathi and Qadeer, "Iterative Context Bounding for Systematic Testing of
/// Multithreaded Programs", 2007.
///
/// SAFETY: everything belongs to the holder of the baton.
package final class Explorer: @unchecked Sendable {
    /// One run: the code of the actors, and the conditions to check after each step and at the end.
    package struct Run {
        package var actors: [@Sendable () -> Void]
        package var observe: () -> Void
        package var check: () -> String?
        package var end: () -> String?
        package var guarded: Set<UInt>

        /// - Parameters:
        ///   - observe: Called after each step, to record states that can be seen only then.
        ///   - check: Returns a violation, if there is one.
        ///   - guarded: The words that must not be used after their end. Their memory must not be reused during the run.
        package init(
            actors: [@Sendable () -> Void],
            observe: @escaping () -> Void = {},
            check: @escaping () -> String? = { nil },
            end: @escaping () -> String?,
            guarded: Set<UInt> = []
        ) {
            (self.actors, self.observe, self.check, self.end) = (actors, observe, check, end)
            self.guarded = guarded
        }
    }

    private struct Step {
        var operation: Interleaving.Operation
        var address: UInt

        func commutes(with other: Step) -> Bool {
            address != other.address || (operation == .load && other.operation == .load)
        }
    }

    /// Where an actor stops.
    private enum Stop {
        case ready(Step)
        case blocked(on: UInt)
        case ended
    }

    private struct Taken {
        let actor: Int
        let step: Step
    }

    private struct Choice {
        let candidates: Actors
        let asleep: Actors
        var tried: Actors
        var chosen: Int
    }

    private let isReduced: Bool
    private let interruptionLimit: Int
    private let threads: [ActorThread]
    private let done = Baton(value: 0)
    private var path: [Choice] = []

    // The state of the current run:
    private var (starting, ready, blocked): (Actors, Actors, Actors) = ([], [], [])
    /// The next step of each actor.
    private var next: [Step] = []
    private var observe: () -> Void = {}
    private var check: () -> String? = { nil }
    private var (depth, interruptions) = (0, 0)
    private var asleep: Actors = []
    private var isRedundant = false
    private var trace: [Taken] = []
    private var guarded: Set<UInt> = []
    private var gone: Set<UInt> = []

    /// The number of runs that differ in more than the order of steps that commute.
    package private(set) var interleavings = 0
    package private(set) var steps = 0
    /// The first violation, with the schedule that leads to it.
    package private(set) var violation: String?

    /// - Parameters:
    ///   - isReduced: False to run schedules even if they differ only in the order of steps that commute.
    ///   - limit: How often a run may turn from an actor that could go on to another; `nil` for no limit. With a limit,
    ///     nothing is reduced, since the schedule that stands for others might be beyond it.
    package init(actors count: Int, isReduced: Bool = true, interruptions limit: Int? = nil) {
        self.isReduced = isReduced && limit == nil
        interruptionLimit = limit ?? .max
        let processor = Int.random(in: 0..<ProcessInfo.processInfo.activeProcessorCount)
        threads = (0..<count).map { _ in ActorThread(on: processor) }
    }

    deinit {
        for thread in threads { thread.stop() }
    }

    /// Runs every interleaving, or up to the first violation.
    package func explore(_ make: () -> Run) {
        repeat {
            execute(make())
            if !isRedundant { interleavings += 1 }
        } while violation == nil && backtrack()
    }

    /// Takes a step that commutes with all others except its own kind; called by actors before they drop a reference.
    package func dropStep(_ actor: Int) {
        arrive(actor, .ready(Step(operation: .update, address: 0)))
    }

    // MARK: - One run

    private func execute(_ run: Run) {
        (starting, ready, blocked) = ([], [], [])
        next = run.actors.map { _ in Step(operation: .load, address: 0) }
        (depth, interruptions, asleep, isRedundant, trace) = (0, 0, [], false, [])
        (observe, check, guarded, gone) = (run.observe, run.check, run.guarded, [])
        for (index, body) in run.actors.enumerated() {
            starting.insert(index)
            threads[index].assign {
                Interleaving.stepping { operation, address in
                    self.step(index, Step(operation: operation, address: address))
                } _: {
                    body()
                }
                self.arrive(index, .ended)
            }
        }
        starting.remove(0)
        threads[0].baton.pass()
        done.wait()
        if let wrong = run.end() { report("at the end: \(wrong)") }
        // The closures may retain this.
        (observe, check) = ({}, { nil })
    }

    private func step(_ actor: Int, _ step: Step) {
        if gone.contains(step.address) { report("actor \(actor) uses a word that is gone") }
        switch step.operation {
        case .block: arrive(actor, .blocked(on: step.address))
        case .load, .update: arrive(actor, .ready(step))
        case .end:
            guard guarded.contains(step.address) else { return }
            arrive(actor, .ready(step))
            gone.insert(step.address)
        }
    }

    /// Ends the step of `actor`, which stops there, and lets the next actor take a step.
    private func arrive(_ actor: Int, _ stop: Stop) {
        switch stop {
        case .ready(let step):
            next[actor] = step
            ready.insert(actor)
        case .blocked(on: let address):
            next[actor] = Step(operation: .load, address: address)
            blocked.insert(actor)
        case .ended:
            break
        }
        let chosen: Int?
        if let first = starting.first {
            starting.remove(first)
            chosen = first
        } else {
            // The effects of a load show at the next change, or at the end.
            if trace.last?.step.operation != .load { look() }
            chosen = choose(after: actor)
        }
        if chosen == actor { return }
        if let chosen { threads[chosen].baton.pass() } else { done.pass() }
        if case .ended = stop { return }
        threads[actor].baton.wait()
    }

    private func look() {
        Interleaving.notStepping {
            observe()
            // The steps repeated from the previous run were checked there.
            if depth >= path.count, !isRedundant, let wrong = check() { report(wrong) }
        }
    }

    private func choose(after current: Int) -> Int? {
        guard let lowest = ready.first else {
            precondition(blocked.isEmpty, "deadlock; steps: \(schedule)")
            return nil
        }
        guard !isRedundant else { return take(ready.contains(current) ? current : lowest) }
        // No actor is interrupted by the choice of the first.
        let isInterruptible = depth > 0 && ready.contains(current)
        if depth == path.count {
            let mustGoOn = isInterruptible && interruptions == interruptionLimit
            let candidates = mustGoOn ? [current] : ready.subtracting(asleep)
            guard let lowest = candidates.first else {
                // All continuations have been run from another schedule; this run only has to reach its end.
                isRedundant = true
                return choose(after: current)
            }
            let chosen = candidates.contains(current) ? current : lowest
            path.append(Choice(candidates: candidates, asleep: asleep, tried: [], chosen: chosen))
        }
        let choice = path[depth]
        precondition(ready.contains(choice.chosen), "the actors do not repeat their steps; steps: \(schedule)")
        depth += 1
        if isInterruptible, choice.chosen != current { interruptions += 1 }
        // Before that, the choices that follow have it.
        if isReduced, depth == path.count {
            let step = next[choice.chosen]
            asleep = choice.asleep.union(choice.tried).filter { ready.contains($0) && step.commutes(with: next[$0]) }
        }
        return take(choice.chosen)
    }

    private func take(_ actor: Int) -> Int {
        let step = next[actor]
        ready.remove(actor)
        steps += 1
        trace.append(Taken(actor: actor, step: step))
        if step.operation != .load, !blocked.isEmpty {
            let woken = blocked.filter { next[$0].address == step.address }
            ready = ready.union(woken)
            blocked = blocked.subtracting(woken)
        }
        return actor
    }

    /// The steps of this run, with the words numbered in the order of their first use.
    private var schedule: String {
        var words: [UInt] = []
        return trace.map { taken in
            let number = words.firstIndex(of: taken.step.address) ?? words.count
            if number == words.count { words.append(taken.step.address) }
            return "actor \(taken.actor) \(taken.step.operation) word \(number)"
        }.joined(separator: ", ")
    }

    private func report(_ wrong: String) {
        if violation == nil { violation = "\(wrong); steps: \(schedule)" }
    }

    // MARK: - Between runs

    /// Moves on to the next schedule; returns false if there is none.
    private func backtrack() -> Bool {
        while var choice = path.popLast() {
            choice.tried.insert(choice.chosen)
            guard let next = choice.candidates.subtracting(choice.tried).first else { continue }
            choice.chosen = next
            path.append(choice)
            return true
        }
        return false
    }
}

/// A set of small numbers.
private struct Actors: ExpressibleByArrayLiteral {
    private var bits: UInt8 = 0

    init(arrayLiteral elements: Int...) { for element in elements { insert(element) } }

    var isEmpty: Bool { bits == 0 }
    var first: Int? { bits == 0 ? nil : bits.trailingZeroBitCount }
    func contains(_ element: Int) -> Bool { bits & 1 << element != 0 }
    mutating func insert(_ element: Int) { bits |= 1 << element }
    mutating func remove(_ element: Int) { bits &= ~(1 << element) }
    func union(_ other: Actors) -> Actors { with { $0 | other.bits } }
    func subtracting(_ other: Actors) -> Actors { with { $0 & ~other.bits } }

    func filter(_ isIncluded: (Int) -> Bool) -> Actors {
        var (result, rest): (Actors, Actors) = ([], self)
        while let element = rest.first {
            rest.remove(element)
            if isIncluded(element) { result.insert(element) }
        }
        return result
    }

    private func with(_ change: (UInt8) -> UInt8) -> Actors {
        var result = self
        result.bits = change(bits)
        return result
    }
}
#endif
