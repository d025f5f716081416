#if DEBUG
import DeferredCore
import DeferredTesting
import Synchronization
import TestSupport

@testable import DeferredCore

/// A future under observation, with the actions of the actors.
///
/// SAFETY: everything belongs to the holder of the explorer's baton.
final class World: @unchecked Sendable {
    enum Action: Sendable {
        case fill(Int)
        case register(String)
        case cancel(String)
        /// Drops the actor's reference to the future. If any actor does, all do, and there are no other references.
        case drop
        /// Runs the handlers that the executor holds.
        case execute
    }

    struct Setup: Sendable {
        /// The handlers that are registered before the actors start, from first to last.
        var handlers: [String] = []
        /// True if an executor holds the handlers until it is told to run them, instead of running them at once.
        var isHeld = false
        /// True if the handlers wait for a future derived from the one that is filled and dropped.
        var isDerived = false
    }

    /// SAFETY: like `World`.
    fileprivate final class Observed: @unchecked Sendable {
        let lifetimes = Lifetimes()
        var registration: Registration?
        var values: [Int] = []
    }

    private let explorer: Explorer
    private let scripts: [[Action]]
    private let fills: Int
    private let isDropped: Bool
    private let executor: ManualExecutor?
    /// The reference of each actor.
    private var references: [Deferred<Int>?]
    /// The references of this observer.
    private var kept: [Future<Int>] = []
    /// The future that is filled, and the one that the handlers wait for. Unowned, which keeps the memory from being
    /// reused for another word.
    private unowned let source: FutureStorage<Int>
    private unowned let target: FutureStorage<Int>

    private var handlers: [String: Observed] = [:]
    private var (wins, losses): ([Int], Int) = ([], 0)
    /// The nodes in the order in which they joined the list, and the handlers in the order in which they ran.
    private var (joined, ran): ([UInt], [String]) = ([], [])

    init(_ explorer: Explorer, _ setup: Setup, _ scripts: [[Action]]) {
        self.explorer = explorer
        self.scripts = scripts
        fills = scripts.joined().count { if case .fill = $0 { true } else { false } }
        isDropped = scripts.joined().contains { if case .drop = $0 { true } else { false } }
        executor = setup.isHeld ? ManualExecutor() : nil
        let deferred = Deferred<Int>()
        deferred.storage.origin = nil
        let future = setup.isDerived ? deferred.map { $0 } : deferred.future
        (source, target) = (deferred.storage, future.storage)
        references = scripts.map { $0.contains(where: \.needsReference) ? deferred : nil }
        for name in setup.handlers {
            register(name, with: future)
            noteHead()
        }
        if !isDropped { kept = [deferred.future, future] }
    }

    var run: Explorer.Run {
        Explorer.Run(
            actors: scripts.indices.map { actor in { self.perform(self.scripts[actor], by: actor) } },
            observe: { if !self.isDropped { self.noteHead() } },
            check: { self.check() },
            end: { self.end() },
            guarded: [source.word.bits.address, target.word.bits.address]
        )
    }

    /// The outcome: the winner, the handlers in the order in which they ran, and the cancelled handlers.
    private(set) var outcome = ""

    private func perform(_ script: [Action], by actor: Int) {
        for action in script {
            switch action {
            case .fill(let value):
                if references[actor]?.fill(with: value) == true { wins.append(value) } else { losses += 1 }
            case .register(let name):
                register(name, with: references[actor]?.future ?? .never)
            case .cancel(let name):
                handlers[name]?.registration?.cancel()
            case .drop:
                drop(actor)
            case .execute:
                executor?.runAll()
            }
        }
        if isDropped, references[actor] != nil { drop(actor) }
    }

    private func drop(_ actor: Int) {
        explorer.dropStep(actor)
        references[actor] = nil
    }

    private func register(_ name: String, with future: Future<Int>) {
        let observed = Observed()
        handlers[name] = observed
        let body: @Sendable (Int) -> Void = {
            [unowned self, unowned observed, token = observed.lifetimes.make()] value in
            token.touch()
            observed.values.append(value)
            ran.append(name)
        }
        observed.registration =
            if let executor { future.upon(executor, execute: body) } else { future.upon(.immediate, execute: body) }
    }

    // MARK: - Conditions after each step

    private func check() -> String? {
        if wins.count > 1 { return "two fills won" }
        for (name, handler) in handlers {
            if handler.values.count > 1 { return "\(name) ran twice" }
            if handler.values.contains(where: { value in wins.contains { $0 != value } }) {
                return "\(name) got the value of a fill that lost"
            }
            guard handler.registration?.isCancelled == true else { continue }
            if !handler.values.isEmpty { return "\(name) ran, though it was cancelled" }
            if handler.state == Membership.cancelledState && handler.lifetimes.count > 0 {
                return "\(name) was cancelled, but is not freed"
            }
        }
        let order = ran.compactMap { handlers[$0]?.node }.compactMap(joined.firstIndex)
        if order != order.sorted() { return "handlers ran in the order \(ran)" }
        return isDropped ? nil : checkList()
    }

    /// Checks that exactly the waiting handlers are in the list, in their order.
    private func checkList() -> String? {
        let bits = target.word.bits.load(ordering: .relaxed)
        if bits & (StateWord.removing | StateWord.filled) != 0 { return nil }
        var listed: [UInt] = []
        var next = HandlerNode.List(bits: bits & ~StateWord.flags).head
        while let node = next {
            listed.append(UInt(bitPattern: node.toOpaque()))
            guard listed.count <= joined.count else { return "the list of handlers is a circle" }
            next = node._withUnsafeGuaranteedRef { $0.next }
        }
        if listed != joined.reversed().filter(listed.contains) { return "handlers have changed places" }
        for (name, handler) in handlers {
            guard let node = handler.node else { continue }
            if handler.isWaiting && !listed.contains(node) { return "\(name) is lost" }
            if handler.state == Membership.cancelledState && listed.contains(node) {
                return "\(name) was cancelled, but is in the list"
            }
        }
        return nil
    }

    private func noteHead() {
        let head = target.word.bits.load(ordering: .relaxed) & ~StateWord.flags
        // A known node becomes the head again when a newer one is removed.
        if head != 0 && !joined.contains(head) { joined.append(head) }
    }

    // MARK: - Conditions at the end

    private func end() -> String? {
        executor?.runAll()
        if let wrong = check() { return wrong }
        if fills > 0 && (wins.count != 1 || losses != fills - 1) { return "\(wins.count) fills won, \(losses) lost" }
        let cancelled = handlers.filter { $0.value.registration?.isCancelled == true }.keys.sorted()
        for (name, handler) in handlers {
            let isCancelled = cancelled.contains(name)
            let mustRun = fills > 0 && !isCancelled
            if handler.values.count != (mustRun ? 1 : 0) { return "\(name) ran \(handler.values.count) times" }
            let mustWait = fills == 0 && !isCancelled && !isDropped
            if handler.lifetimes.count != (mustWait ? 1 : 0) { return "\(name) lives \(handler.lifetimes.count) times" }
        }
        outcome = "\(wins) ran \(ran) cancelled \(cancelled)"
        (references, kept) = ([], [])
        return handlers.contains { $0.value.lifetimes.count > 0 } ? "a handler is leaked" : nil
    }
}

extension World.Observed {
    var node: UInt? { registration?.node.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } }
    var state: UInt? { registration?.node?.membership.state.load(ordering: .relaxed) }
    var isWaiting: Bool { state.map { $0 > Membership.lastState } ?? false }
}

extension World.Action {
    fileprivate var needsReference: Bool {
        switch self {
        case .fill, .register, .drop: true
        case .cancel, .execute: false
        }
    }
}
#endif
