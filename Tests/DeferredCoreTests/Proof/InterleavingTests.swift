#if DEBUG
import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

/// Tests that no interleaving loses, repeats or reorders a handler.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isThreadSanitized))
struct InterleavingTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var setup: World.Setup
        var scripts: [[World.Action]]
        /// The minimum number of interleavings, so that an exploration of little or nothing fails.
        var atLeast: Int

        init(_ name: String, _ atLeast: Int, _ setup: World.Setup = .init(), _ scripts: [World.Action]...) {
            (testDescription, self.setup, self.scripts, self.atLeast) = (name, setup, scripts, atLeast)
        }
    }

    @Test(
        arguments: [
            Scenario("fill × fill", 9, .init(handlers: ["a"]), [.fill(1)], [.fill(2)]),
            Scenario("fill × fill × fill", 226, .init(handlers: ["a"]), [.fill(1)], [.fill(2)], [.fill(3)]),
            Scenario("fill × register", 11, .init(handlers: ["a"]), [.fill(1)], [.register("b")]),
            Scenario("fill × fill × register", 724, .init(), [.fill(1)], [.fill(2)], [.register("b")]),
            Scenario("register × register × fill", 485, .init(), [.register("a")], [.register("b")], [.fill(1)]),
            Scenario(
                "fill × register × cancel",
                12_709,
                .init(handlers: ["a"]),
                [.fill(1)],
                [.register("b")],
                [.cancel("a")]
            ),
            Scenario(
                "fill × register, then cancel",
                134,
                .init(handlers: ["a"]),
                [.fill(1)],
                [.register("b"), .cancel("b")]
            ),
            Scenario(
                "cancel × cancel of one handler",
                7,
                .init(handlers: ["a", "b"]),
                [.cancel("a")],
                [.cancel("a")]
            ),
            Scenario(
                "cancel × cancel of neighbours",
                28,
                .init(handlers: ["a", "b", "c"]),
                [.cancel("a")],
                [.cancel("b")]
            ),
            Scenario("cancel × cancel, newest", 19, .init(handlers: ["a", "b", "c"]), [.cancel("b")], [.cancel("c")]),
            Scenario(
                "cancel × register, newest",
                59,
                .init(handlers: ["a"]),
                [.cancel("a")],
                [.register("b"), .register("c")]
            ),
            Scenario(
                "fill × cancel of an inner handler",
                67,
                .init(handlers: ["a", "b", "c"]),
                [.fill(1)],
                [.cancel("b")]
            ),
            Scenario("register × drop", 1, .init(), [.register("a"), .drop], [.drop]),
            Scenario(
                "register × drop, one waiting",
                376,
                .init(handlers: ["a"]),
                [.register("b"), .drop],
                [.drop],
                [.cancel("a")]
            ),
            Scenario("cancel × drop", 18, .init(handlers: ["a"]), [.cancel("a")], [.drop]),
            Scenario("cancel × drop, inner", 35, .init(handlers: ["a", "b"]), [.cancel("a")], [.drop]),
            Scenario(
                "cancel × cancel × drop",
                12_705,
                .init(handlers: ["a", "b"]),
                [.cancel("a")],
                [.cancel("b")],
                [.drop]
            ),
            Scenario("fill × cancel × drop", 67, .init(handlers: ["a", "b"]), [.fill(1), .drop], [.cancel("a")]),
            Scenario(
                "cancel × drop behind a derived future",
                25,
                .init(handlers: ["a", "b"], isDerived: true),
                [.cancel("a")],
                [.drop]
            ),
            Scenario(
                "fill × cancel behind a derived future",
                25,
                .init(handlers: ["a", "b"], isDerived: true),
                [.cancel("a")],
                [.fill(1), .drop]
            ),
            Scenario(
                "fill × cancel × execute",
                44,
                .init(handlers: ["a"], isHeld: true),
                [.fill(1)],
                [.cancel("a")],
                [.execute]
            ),
        ]
    )
    func `every interleaving keeps every handler`(scenario: Scenario) {
        let explorer = Explorer(actors: scenario.scripts.count)
        explorer.explore { World(explorer, scenario.setup, scenario.scripts).run }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings >= scenario.atLeast)
    }

    @Test func `skipping repetitions skips no outcome`() {
        let scripts: [[World.Action]] = [[.fill(1)], [.register("b"), .cancel("b")]]
        func outcomes(isReduced: Bool) -> (Set<String>, Int) {
            let explorer = Explorer(actors: 2, isReduced: isReduced)
            var worlds: Set<String> = []
            explorer.explore {
                let world = World(explorer, .init(handlers: ["a"]), scripts)
                var run = world.run
                let end = run.end
                run.end = {
                    let wrong = end()
                    worlds.insert(world.outcome)
                    return wrong
                }
                return run
            }
            #expect(explorer.violation == nil)
            return (worlds, explorer.interleavings)
        }
        let (reduced, few) = outcomes(isReduced: true)
        let (full, many) = outcomes(isReduced: false)
        #expect(reduced == full)
        // "b" is cancelled, or runs after "a", or runs at once on its own thread, while "a" is about to run.
        #expect(reduced.count == 3)
        #expect(many > 2 * few)
    }

    @Test func `firstFilled has one winner, and leaves no handler, however it is interleaved with a fill`() {
        let explorer = Explorer(actors: 2)
        explorer.explore {
            let (a, b) = (Deferred<Int>(), Deferred<Int>())
            let results = Log<Future<Int>>()
            return Explorer.Run(
                actors: [{ b.fill(with: 2) }, { results.add([a, b].firstFilled()) }],
                end: {
                    if results.entries[0].peek() != 2 { return "nobody won" }
                    return a.storage.hasHandlers || b.storage.hasHandlers ? "a handler is left" : nil
                }
            )
        }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings > 10)
    }

    @Test func `firstFilled of two that are filled at the same time has one winner, and leaves no handler`() {
        let explorer = Explorer(actors: 2)
        explorer.explore {
            let (a, b, c) = (Deferred<Int>(), Deferred<Int>(), Deferred<Int>())
            let first = [a, b, c].firstFilled()
            let values = Log<Int>()
            first.upon(.immediate) { values.add($0) }
            return Explorer.Run(
                actors: [{ a.fill(with: 1) }, { b.fill(with: 2) }],
                end: {
                    if values.entries.count != 1 { return "\(values.entries) won" }
                    return c.storage.hasHandlers ? "a handler is left" : nil
                }
            )
        }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings > 10)
    }

    @Test func `zip is filled once, by the last of its futures`() {
        let explorer = Explorer(actors: 2)
        explorer.explore {
            let (a, b) = (Deferred<Int>(), Deferred<Int>())
            let values = Log<[Int]>()
            return Explorer.Run(
                actors: [
                    {
                        a.fill(with: 1)
                        b.fill(with: 2)
                    },
                    { zip(a, b).upon(.immediate) { values.add([$0, $1]) } },
                ],
                end: { values.entries == [[1, 2]] ? nil : "\(values.entries)" }
            )
        }
        #expect(explorer.violation == nil)
        #expect(explorer.interleavings > 10)
    }
}
#endif
