import DeferredCore
import Foundation
import Testing

/// A row of a table of operations that may last long, such as a stream or a retry, and must not cost more the longer they
/// last.
///
/// ```swift
/// private static let operations: [LongOperation] = [
///     .init("flatMap") { events in … },
/// ]
/// ```
package struct LongOperation: Sendable {
    package let name: String
    private let count: Int
    private let bytesKept: Int
    private let run: @Sendable (LongOperationEvents) async throws -> Void

    /// - Parameters:
    ///   - count: The number of events. Under a sanitizer it is a tenth.
    ///   - bytesKept: The bytes that each event may add to the heap, because the result contains it.
    ///   - run: Runs the operation, and notes each event when it is over.
    package init(
        _ name: String,
        count: Int = 100_000,
        bytesKept: Int = 0,
        _ run: @escaping @Sendable (LongOperationEvents) async throws -> Void
    ) {
        self.name = name
        self.count = isSanitized ? count / 10 : count
        self.bytesKept = bytesKept
        self.run = run
    }

    /// Runs the operation, and records an issue if its last events take four times the processor time of its first ones,
    /// or if its events stay on the heap.
    ///
    /// Meaningful only in a separate process, whose processor time it measures: call it in an exit test. Appends its
    /// figures to the file that `LONG_OPERATIONS` names in the environment.
    package func expectSteadyCost() async throws {
        let events = LongOperationEvents(count)
        try await run(events)
        let (ratio, growth) = events.costs
        if ratio >= 4 { Issue.record("\(name): the last events take \(ratio) times as long as the first ones") }
        if growth >= bytesKept + 8 { Issue.record("\(name): each event leaves \(growth) bytes on the heap") }
        if let path = ProcessInfo.processInfo.environment["LONG_OPERATIONS"], let file = fopen(path, "a") {
            fputs("\(name): \(events.summary)\n", file)
            fclose(file)
        }
    }
}

extension [LongOperation] {
    /// Runs the operation called `name`. See ``LongOperation/expectSteadyCost()``.
    package func expectSteadyCost(of name: String) async throws {
        try await #require(first { $0.name == name }).expectSteadyCost()
    }
}

/// The events of a ``LongOperation``, in twenty parts of equal length.
package final class LongOperationEvents: Sendable {
    private struct Mark {
        var time: Double
        var heap: Int
    }

    private static let partCount = 20

    /// The number of events that the operation has to have.
    package let count: Int
    private let state: Lock<(noted: Int, marks: [Mark])>

    fileprivate init(_ count: Int) {
        self.count = count
        state = Lock((0, [Mark(time: processorTime(), heap: heapInUse())]))
    }

    /// Notes that an event is over, or several.
    package func note(_ events: Int = 1) {
        state.withLock { state in
            state.noted += events
            while state.marks.count <= Self.partCount, state.noted >= count * state.marks.count / Self.partCount {
                state.marks.append(Mark(time: processorTime(), heap: heapInUse()))
            }
        }
    }

    /// The ratio of the time that the last events take to that of the first ones, and the bytes on the heap for each event
    /// in between.
    ///
    /// The very first part is left out, as it warms up. The medians leave out what disturbs one part or two.
    fileprivate var costs: (ratio: Double, growth: Int) {
        let marks = state.withLock { $0.marks }
        guard marks.count == Self.partCount + 1 else { return (.infinity, .max) }
        let times = zip(marks, marks.dropFirst()).map { $1.time - $0.time }
        let ratio = median(times.suffix(3)) / median(times[1...3])
        // Buffers are fuller at some times than at others: that of a handle of libcurl, of 256 KiB, comes and goes with each
        // request, on another thread than the one that notes an event.
        let growth = max(0, median(marks.suffix(5).map(\.heap)) - median(marks[1...5].map(\.heap)) - (512 << 10))
        return (ratio, growth * Self.partCount / (Self.partCount - 5) / count)
    }

    /// Nanoseconds for each event in each part.
    fileprivate var summary: String {
        let marks = state.withLock { $0.marks }
        let each = zip(marks, marks.dropFirst()).map { Int(($1.time - $0.time) * 1e9) * Self.partCount / count }
        return "\(each) ns, \(costs)"
    }
}

private func median<Number: Comparable>(_ numbers: some Sequence<Number>) -> Number {
    let sorted = numbers.sorted()
    return sorted[sorted.count / 2]
}

/// Returns the processor time of this process's threads, in seconds: it doesn't depend on what else the machine does.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Gives threads that are started from now on a stack of `size` bytes, where the C library allows it.
///
/// For a library's own threads; call it in an exit test. Threads of a test have `onThread(stackSize:)`.
package func limitStacks(to size: Int) {
    #if canImport(Glibc)
    // Not in the module map of Swift's Glibc.
    typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> CInt
    guard let setDefault = dlsym(dlopen(nil, RTLD_NOW), "pthread_setattr_default_np") else { return }
    // Not `pthread_attr_t()`: the compiler attributes this initialiser to Dispatch's C module.
    withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { attributes in
        guard let attributes = attributes.baseAddress else { return }
        pthread_attr_init(attributes)
        pthread_attr_setstacksize(attributes, size)
        _ = unsafeBitCast(setDefault, to: SetDefault.self)(attributes)
        pthread_attr_destroy(attributes)
    }
    #endif
}
