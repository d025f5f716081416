#if DEBUG
import DeferredCore
import Synchronization
import TestSupport
import Testing

@testable import DeferredCore

/// Tests that no interleaving loses, repeats or reorders a handler that moves from its future to another.
///
/// A `flatMap` whose result is not retained elsewhere moves its handlers to the future that its closure returned,
/// unless one of them can be cancelled. Meanwhile other threads cancel handlers, register new ones, and fill that
/// future.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct MovingInterleavingTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var setup: MovingWorld.Setup
        var scripts: [[MovingWorld.Action]]
        /// The minimum number of interleavings, so that an exploration of little or nothing fails.
        var atLeast: Int

        init(_ name: String, _ atLeast: Int, _ setup: MovingWorld.Setup, _ scripts: [MovingWorld.Action]...) {
            (testDescription, self.setup, self.scripts, self.atLeast) = (name, setup, scripts, atLeast)
        }
    }

    @Test(
        arguments: [
            Scenario("move × fill", 16, .init(outer: ["a", "b"]), [.move], [.fill]),
            Scenario("move × register", 5, .init(outer: ["a", "b"]), [.move], [.register("x")]),
            Scenario(
                "move × cancel of the one that hinders it",
                24,
                .init(outer: ["a", "r", "b"]),
                [.move],
                [.cancel("r")]
            ),
            Scenario(
                "move × cancel of the newest, which hinders it",
                14,
                .init(outer: ["a", "r"]),
                [.move],
                [.cancel("r")]
            ),
            Scenario(
                "move × cancel where they go",
                24,
                .init(outer: ["a", "r", "b"], inner: ["s", "t"], cancelled: ["r"]),
                [.move],
                [.cancel("s")]
            ),
            Scenario(
                "move × cancel, then cancel, where they go",
                81,
                .init(outer: ["a", "r", "b"], inner: ["s", "t"], cancelled: ["r"]),
                [.move],
                [.cancel("t"), .cancel("s")]
            ),
            Scenario(
                "move × cancel where they go × fill",
                20_381,
                .init(outer: ["a"], inner: ["s"]),
                [.move],
                [.cancel("s")],
                [.fill]
            ),
            Scenario(
                "move × register × cancel where they go",
                823,
                .init(outer: ["a", "r", "b"], inner: ["s"], cancelled: ["r"]),
                [.move],
                [.register("x")],
                [.cancel("s")]
            ),
            Scenario(
                "move × cancel of the one that hinders it × fill",
                842,
                .init(outer: ["a", "r"]),
                [.move],
                [.cancel("r")],
                [.fill]
            ),
        ]
    )
    func `every interleaving keeps every handler that moves`(scenario: Scenario) {
        let explorer = Explorer(actors: scenario.scripts.count)
        explorer.explore { MovingWorld(scenario.setup, scenario.scripts).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= scenario.atLeast)
    }
}

/// A waiting `flatMap`, and the future that its closure will return.
///
/// SAFETY: everything belongs to the holder of the explorer's baton.
final class MovingWorld: @unchecked Sendable {
    enum Action: Sendable {
        /// Fills the future that the `flatMap` waits for, which moves its handlers to the inner future.
        case move
        /// Fills the inner future.
        case fill
        /// Registers a handler with the inner future.
        case register(String)
        case cancel(String)
    }

    /// Handlers named "r" and later letters are registered and can be cancelled; earlier letters name operators, which
    /// cannot.
    struct Setup: Sendable {
        /// The handlers of the `flatMap`.
        var outer: [String] = []
        /// The handlers of the inner future.
        var inner: [String] = []
        /// The handlers that are cancelled before the actors start.
        var cancelled: [String] = []
    }

    /// SAFETY: like `MovingWorld`.
    private final class Observed: @unchecked Sendable {
        let lifetimes = Lifetimes()
        var registration: Registration?
        var values: [Int] = []
    }

    private let (source, inner) = (Deferred<Int>(), Deferred<Int>())
    /// Unowned, which keeps the memory from being reused for another word.
    private unowned let stage: FutureStorage<Int>
    private let setup: Setup
    private let scripts: [[Action]]
    private var handlers: [String: Observed] = [:]
    private var ran: [String] = []

    init(_ setup: Setup, _ scripts: [[Action]]) {
        (self.setup, self.scripts) = (setup, scripts)
        let future = source.flatMap { [inner] _ in inner }
        stage = future.storage
        for name in setup.outer { add(name, to: future) }
        for name in setup.inner { add(name, to: inner.future) }
        for name in setup.cancelled { handlers[name]?.registration?.cancel() }
    }

    var run: Explorer.Run {
        Explorer.Run(
            actors: scripts.map { script in { for action in script { self.perform(action) } } },
            check: { self.check() },
            end: { self.end() },
            guarded: [source.storage.word.bits.address, inner.storage.word.bits.address, stage.word.bits.address]
        )
    }

    private func perform(_ action: Action) {
        switch action {
        case .move: source.fill(with: 0)
        case .fill: inner.fill(with: 1)
        case .register(let name): add(name, to: inner.future)
        case .cancel(let name): handlers[name]?.registration?.cancel()
        }
    }

    private func add(_ name: String, to future: Future<Int>) {
        let observed = Observed()
        handlers[name] = observed
        let body: @Sendable (Int) -> Void = {
            [unowned self, unowned observed, token = observed.lifetimes.make()] value in
            token.touch()
            observed.values.append(value)
            ran.append(name)
        }
        if name >= "r" { observed.registration = future.upon(.immediate, execute: body) } else { _ = future.map(body) }
    }

    private func check() -> String? {
        for (name, handler) in handlers {
            if handler.values.count > 1 { return "\(name) ran twice" }
            guard handler.registration?.isCancelled == true else { continue }
            if !handler.values.isEmpty { return "\(name) ran, though it was cancelled" }
            let state = handler.registration?.node?.membership.state.load(ordering: .relaxed)
            if state == Membership.cancelledState && handler.lifetimes.count > 0 {
                return "\(name) was cancelled, but is not freed"
            }
        }
        return nil
    }

    private func end() -> String? {
        source.fill(with: 0)
        inner.fill(with: 1)
        if let wrong = check() { return wrong }
        for (name, handler) in handlers {
            let isCancelled = handler.registration?.isCancelled == true
            if handler.values != (isCancelled ? [] : [1]) { return "\(name) got \(handler.values)" }
            if handler.lifetimes.count > 0 { return "\(name) is leaked" }
        }
        for order in [setup.outer, setup.inner] {
            let order = order.filter { handlers[$0]?.registration?.isCancelled != true }
            if ran.filter(order.contains) != order { return "handlers ran in the order \(ran)" }
        }
        return nil
    }
}
#endif
