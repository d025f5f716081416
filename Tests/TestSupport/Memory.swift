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

/// Calls `body` with 1, and again with 2 and 4 while the peak of this process's memory grows by `limit` or more.
///
/// What a leak, or a loop that frees nothing before its end, keeps grows with the number of turns, so that it shows each
/// time. The threads of a queue and their heaps, of which a busy machine needs more, come once.
///
/// Meaningful only in a separate process: call it in an exit test.
///
/// - Parameter body: Runs its turns so many times over.
/// - Returns: The least growth of the peak, in bytes; 0 where it cannot be read.
package func leastGrowth(below limit: Int, _ body: (_ times: Int) async throws -> Void) async rethrows -> Int {
    keepNoBacktraces()
    var least = Int.max
    for times in [1, 2, 4] where least >= limit {
        let before = peakMemory()
        try await body(times)
        least = min(least, peakMemory() - before)
    }
    return least
}

/// Returns the most resident memory that this process has had, in bytes; 0 where it cannot be read.
private func peakMemory() -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
        let kibibytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kibibytes << 10
}

/// Makes Swift Testing keep no backtraces, for the rest of this process.
///
/// It keeps one for each address at which a thrown error has been. Where the processor is shared with others, these are
/// ever new ones: memory of the tests, and not of what they measure.
func keepNoBacktraces() {
    #if canImport(Glibc)
    setWillThrowHandler(nil)
    #endif
}

#if canImport(Glibc)
/// Sets what is called for each error that is thrown.
@_silgen_name("_swift_setWillThrowHandler")
private func setWillThrowHandler(_ handler: UnsafeRawPointer?)
#endif
