import DeferredCore
import TestSupport
import Testing

/// Tests of measuring the heap.
@Suite(.ownThread, .timeLimit(.minutes(1)), .enabled(if: !isSanitized))
struct HeapMeterTests {
    private final class Object: Sendable {}

    private struct CountedError: Error {
        let number: Int
    }

    @inline(never) private static func fail(with error: any Error) throws { throw error }

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

    @Test func `errors that are thrown at ever new addresses are not taken for kept ones`() async {
        await #expect(processExitsWith: .success) {
            let count = 20
            // As many as there can be rounds: each error has an address of its own for as long as the array is there.
            let errors: [any Error] = (0..<300 * count).map { CountedError(number: $0) }
            var next = errors.startIndex
            let thrown = await heapGrowth(count, below: 16) {
                for _ in 0..<count {
                    try? Self.fail(with: errors[next])
                    next += 1
                }
            }
            precondition(thrown < 16, "\(thrown)")
        }
    }
    #endif
}
