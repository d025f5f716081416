import DeferredCore
import Testing

@testable import TestSupport

/// Tests of the order in which the tests themselves run.
@Suite(.serialized, .ownThreadInSeries, .timeLimit(.minutes(1)))
struct TurnsTests {
    @Test func `serialized tests go first, in half of the places, and tests alone last`() async throws {
        let turns = Turns(2)
        let started = Log<String>()
        var (gates, waiting): ([String: Deferred<Void>], [String: _Concurrency.Task<Void, Never>]) = ([:], [:])
        for (name, kind) in [
            ("first", Turns.Kind.alone), ("alone", .alone), ("normal", .normal), ("one", .serialized),
            ("two", .serialized),
        ] {
            let gate = Deferred<Void>()
            gates[name] = gate
            let count = turns.waitingCount
            waiting[name] = _Concurrency.Task {
                await turns.take(kind) {
                    started.add(name)
                    await gate.value
                }
            }
            // The first one starts, and each other waits for it.
            try await eventually { name == "first" ? started.entries == ["first"] : turns.waitingCount > count }
        }
        func end(_ name: String) async {
            gates[name]?.fill()
            await waiting[name]?.value
        }
        #expect(turns.waitingCount == 4)
        await end("first")
        #expect(turns.waitingCount == 2)
        try await eventually { Set(started.entries) == ["first", "normal", "one"] }
        await end("normal")
        #expect(turns.waitingCount == 2)
        await end("one")
        try await eventually { started.entries.last == "two" }
        #expect(turns.waitingCount == 1)
        await end("two")
        try await eventually { started.entries.last == "alone" }
        await end("alone")
        #expect(turns.waitingCount == 0)
    }

    @Test func `a test has the kind of its suite`() throws {
        #expect(OwnThread.kind(of: try #require(Test.current)) == .serialized)
    }

    @Suite(.ownThread)
    struct Inner {
        @Test func `a test has the kind of the suite around its own`() throws {
            #expect(OwnThread.kind(of: try #require(Test.current)) == .serialized)
        }

        @Test(.alone) func `a test that is alone is that in any suite`() throws {
            #expect(OwnThread.kind(of: try #require(Test.current)) == .alone)
        }
    }
}

/// Tests of measuring memory.
@Suite(.ownThread, .timeLimit(.minutes(1)), .enabled(if: !isSanitized))
struct LeastGrowthTests {
    #if os(Linux)
    @Test func `what grows with the turns is found, also if it is freed at the end, and what comes once is not`() async
    {
        await #expect(processExitsWith: .success) {
            func allocate(_ count: Int) -> [[UInt8]] { (0..<count).map { _ in [UInt8](repeating: 1, count: 1_000) } }
            let limit = 4 << 20
            let freed = await leastGrowth(below: limit) { precondition(allocate(8_000 * $0).count > 0) }
            precondition(freed >= limit, "\(freed)")
            var kept: [[[UInt8]]] = []
            let leaked = await leastGrowth(below: limit) { kept.append(allocate(40_000 * $0)) }
            precondition(leaked >= limit, "\(leaked)")
            let once = await leastGrowth(below: limit) { if $0 == 1 { kept.append(allocate(40_000)) } }
            precondition(once < limit && kept.count == 4, "\(once)")
        }
    }
    #endif
}
