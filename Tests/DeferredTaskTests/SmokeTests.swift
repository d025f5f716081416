import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SmokeTests {
    @Test func `smoke`() async throws {
        let d = Deferred<Task<Int>.Result>()
        let log = Log<String>()
        let t = Task(d, uponCancel: { log.add("cancelled") })
        let m = t.map { $0 + 1 }.flatMap { Task.success($0 * 2) }.recover { _ in 7 }
        m.cancel()
        #expect(log.entries == ["cancelled"])
        await #expect(throws: CancellationError.self) { try await m.value }
        let x = try await Task {
            try await Task.sleep(for: .milliseconds(1)); return 3
        }.value
        #expect(x == 3)
    }
}
