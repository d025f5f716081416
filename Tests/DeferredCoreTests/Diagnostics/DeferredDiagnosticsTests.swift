#if DEBUG
import DeferredCore
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct DeferredDiagnosticsTests {
    @Test func `a Deferred dropped while handlers wait is reported with its file and line`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            makeDeferred().upon(.immediate) { _ in }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains(
                "DeferredCoreTests/DeferredDiagnosticsTests.swift:\(lineOfMakeDeferred): a Deferred was dropped unfilled"
            )
        )
    }

    @Test func `reports go to the handler, and only where a handler is lost`() async {
        await #expect(processExitsWith: .success) {
            let count = Counter()
            DeferredDiagnostics.unfilledHandler = { report in
                precondition(
                    report.line == lineOfMakeDeferred
                        && "\(report.file)" == "DeferredCoreTests/DeferredDiagnosticsTests.swift"
                )
                count.value += 1
            }
            do {
                let lost = makeDeferred()
                lost.map { $0 + 1 }.flatMap { Future(value: $0) }.upon(.immediate) { _ in }
            }
            precondition(count.value == 1)
            // None of these loses a handler of the user's.
            _ = Deferred<Int>()
            let cancelled = Deferred<Int>()
            cancelled.upon(.immediate) { _ in }.cancel()
            Future<Int>.never.upon(.immediate) { _ in }
            zip(Future<Int>.never, Future<Int>.never).upon(.immediate) { _ in }
            [Future<Int>.never].allFilled().upon(.immediate) { _ in }
            [Future<Int>.never].firstFilled().upon(.immediate) { _ in }
            Future<Int>.never.delay(for: .seconds(1)).ignored().upon(.immediate) { _ in }
            let filled = Deferred<Int>()
            filled.upon(.immediate) { _ in }
            filled.fill(with: 1)
            precondition(count.value == 1)
        }
    }
}

private let lineOfMakeDeferred: UInt = #line + 1
private func makeDeferred() -> Deferred<Int> { Deferred() }

/// SAFETY: used from one thread.
private final class Counter: @unchecked Sendable {
    var value = 0
}
#endif
