import DeferredCore
import DeferredTesting
import Dispatch
import TestSupport
import Testing

/// Tests that nothing is kept of a future once it is over. A new operator is one more line.
@Suite(.ownThread, .timeLimit(.minutes(5)), .enabled(if: !isSanitized))
struct HeapTests {
    private typealias Derivation = @Sendable (Deferred<Int>) -> Future<Int>

    private static let derivations: [(name: String, derive: Derivation)] = [
        ("future", { $0.future }),
        ("map", { $0.map { $0 + 1 } }),
        ("map on a queue", { $0.map(on: .any()) { $0 + 1 } }),
        ("flatMap", { $0.flatMap { Future(value: $0) } }),
        ("flatMap to a later one", { $0.flatMap { value in Future.async(on: .any()) { value } } }),
        ("ignored", { $0.ignored().map { 1 } }),
        ("delay", { $0.delay(for: .nanoseconds(1)) }),
        ("zip", { zip($0, Deferred(filledWith: 1)).map { $0.0 } }),
        ("allFilled", { [$0, Deferred(filledWith: 1)].allFilled().map { $0[0] } }),
        ("firstFilled", { [$0, Deferred()].firstFilled() }),
    ]

    /// A producer that outlives all that was derived from it.
    private static let lasting = Deferred<Int>()

    private static let uses: [(name: String, use: @Sendable (Derivation) async throws -> Void)] = [
        (
            "that is filled",
            { derive in
                let producer = Deferred<Int>()
                let future = derive(producer)
                producer.fill(with: 1)
                _ = await future.value
            }
        ),
        ("that was filled before", { derive in _ = await derive(Deferred(filledWith: 1)).value }),
        ("that is dropped", { derive in _ = derive(Deferred()) }),
        (
            "whose handler is removed",
            { derive in
                let producer = Deferred<Int>()
                derive(producer).upon(.immediate) { _ in }.cancel()
            }
        ),
        (
            "whose awaiting task is cancelled",
            { derive in
                let future = derive(Deferred())
                let waiting = _Concurrency.Task { try await future.get() }
                waiting.cancel()
                _ = await waiting.result
            }
        ),
    ]

    private static let derived = derivations.flatMap { derivation in
        uses.map { use in
            MeteredOperation("\(derivation.name) \(use.name)") { try await use.use(derivation.derive) }
        }
    }

    private static let others: [MeteredOperation] = [
        .init("upon, removed from a future that lasts") { lasting.upon(.immediate) { _ in }.cancel() },
        .init("upon on a queue, removed from a future that lasts") { lasting.upon(.any()) { _ in }.cancel() },
        .init("get, cancelled, of a future that lasts") {
            let waiting = _Concurrency.Task { try await lasting.get() }
            waiting.cancel()
            _ = await waiting.result
        },
        .init("wait in vain for a future that lasts") { waitInVain() },
        .init("Future.async") { _ = await Future.async(on: .any()) { 1 }.value },
        .init("firstFilled with a future that lasts") {
            let winner = Deferred<Int>()
            let first = [lasting, winner].firstFilled()
            winner.fill(with: 1)
            _ = await first.value
        },
        .init("Registration(onCancel:)") { Registration {}.cancel() },
        .init("description") { _ = Deferred(filledWith: 1).debugDescription },
    ]

    private static func waitInVain() { _ = lasting.wait(until: .now()) }

    #if os(Linux)
    @Test(arguments: derivations.map(\.name))
    func `nothing is left`(by derivation: String) async {
        await #expect(processExitsWith: .success, "\(derivation)") { [derivation] in
            for operation in Self.derived where operation.name.hasPrefix(derivation + " ") {
                try await operation.expectNothingLeft()
            }
        }
    }

    @Test(arguments: others.map(\.name))
    func `nothing is left after`(name: String) async {
        await #expect(processExitsWith: .success, "\(name)") { [name] in
            try await Self.others.expectNothingLeft(by: name)
        }
    }
    #endif
}
