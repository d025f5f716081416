#if DEBUG
import DeferredCore
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(5)))
struct DeferredDiagnosticsTests {
    #if os(macOS) || os(Linux)
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
            // None of these loses a user's handler.
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

    @Test func `waiting on a thread that may block is not reported`() async {
        await #expect(processExitsWith: .success) {
            DeferredDiagnostics.blockedHandler = { preconditionFailure("\($0.operation) was reported") }
            let deferred = Deferred<Int>()
            let future = Future.async(on: .global()) { deferred.fill(with: 1) }
            precondition(deferred.wait() == 1 && future.wait() == true)
        }
    }

    @Test func `any number of reports keep nothing, and need no more stack`() async {
        await #expect(processExitsWith: .success) {
            let count = Counter()
            DeferredDiagnostics.unfilledHandler = { _ in count.value += 1 }
            await onThread(stackSize: 512 << 10) {
                for _ in 0..<50_000 { makeDeferred().upon(.immediate) { _ in } }
            }
            precondition(count.value == 50_000)
        }
    }

    @Test func `the previous handler is released outside of the lock`() async {
        await #expect(processExitsWith: .success) {
            DeferredDiagnostics.unfilledHandler = {
                [token = AtDeinit { _ = DeferredDiagnostics.unfilledHandler }] _ in withExtendedLifetime(token) {}
            }
            DeferredDiagnostics.unfilledHandler = { _ in }
        }
    }
    #endif
}

private let lineOfMakeDeferred: UInt = #line + 1
private func makeDeferred() -> Deferred<Int> { Deferred() }

private final class AtDeinit: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit { body() }
}

/// SAFETY: used from one thread.
private final class Counter: @unchecked Sendable {
    var value = 0
}
#endif
