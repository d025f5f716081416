import Foundation

/// Returns the resident memory of this process in bytes; 0 where it cannot be read.
///
/// Meaningful only in a separate process: call it in an exit test.
package func residentMemory() -> Int {
    guard let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "),
        fields.count > 1, let pages = Int(fields[1])
    else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// True if this process runs under ThreadSanitizer or AddressSanitizer, which need additional memory and time.
package let isSanitized = isThreadSanitized || isLinked("__asan_init")

/// True if the tests run under ThreadSanitizer, which can't find races among steps that an `Explorer` orders.
package let isThreadSanitized = isLinked("__tsan_init")

private func isLinked(_ name: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), name) != nil }

/// Runs `body`, again if memory grew by more than `limit`, and at most three times.
///
/// A leak grows each time. The threads of a queue and their heaps, of which a busy machine needs more, come once.
///
/// - Returns: The least growth, in bytes.
package func leastGrowth(below limit: Int, _ body: () async throws -> Void) async rethrows -> Int {
    var least = Int.max
    for _ in 0..<3 where least >= limit {
        let before = residentMemory()
        try await body()
        least = min(least, residentMemory() - before)
    }
    return least
}
