#if DEBUG && (os(macOS) || os(Linux))
import DeferredCore
import DeferredTask
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct UnfilledTaskTests {
    /// Drops a task that was made of a `Deferred`, and with it the `Deferred`.
    private static func drop(_ use: (DeferredTask.Task<Int>) -> Void) {
        use(DeferredTask.Task(Deferred<DeferredTask.Task<Int>.Result>(), uponCancel: {}))
    }

    @Test func `a Deferred that only a task was made of loses no handler`() async {
        await #expect(processExitsWith: .success) {
            let reports = Log<Void>()
            DeferredDiagnostics.unfilledHandler = { _ in reports.add(()) }
            Self.drop { _ in }
            Self.drop { $0.cancel() }
            precondition(reports.entries.count == 0)
            Self.drop { $0.upon(.immediate) { _ in } }
            precondition(reports.entries.count == 1)
            Self.drop { _ = $0.map { $0 + 1 } }
        }
    }
}
#endif
