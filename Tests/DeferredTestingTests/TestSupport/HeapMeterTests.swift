import DeferredCore
import TestSupport
import Testing

/// Tests of measuring the heap.
@Suite(.ownThread, .timeLimit(.minutes(1)), .enabled(if: !isSanitized))
struct HeapMeterTests {
    private final class Object: Sendable {}

    #if os(Linux)
    @Test func `the smallest object that each operation keeps is found, and what is freed or comes once is not`() async
    {
        await #expect(processExitsWith: .success) {
            let kept = Log<Object>()
            let leaked = await heapGrowth(1_000, below: 16) { for _ in 0..<1_000 { kept.add(Object()) } }
            precondition((24...64).contains(leaked), "\(leaked)")
            let freed = await heapGrowth(1_000, below: 16) { for _ in 0..<1_000 { Log<Object>().add(Object()) } }
            precondition(freed < 16, "\(freed)")
            let once = await heapGrowth(1_000, below: 16) {
                if kept.entries.count < 9_000 { for _ in 0..<1_000 { kept.add(Object()) } }
            }
            precondition(once < 16, "\(once)")
        }
    }
    #endif
}
