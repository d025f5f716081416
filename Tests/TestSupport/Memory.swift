import Foundation

/// The resident memory of this process in bytes; 0 where it cannot be read.
///
/// Meaningful only in a process of its own: call it in an exit test.
package func residentMemory() -> Int {
    guard let fields = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " "),
        fields.count > 1, let pages = Int(fields[1])
    else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
}

/// Whether this process runs under ThreadSanitizer or AddressSanitizer, whose bookkeeping takes memory and time of its
/// own.
package let isSanitized = isThreadSanitized || isLinked("__asan_init")

/// Whether the tests run under ThreadSanitizer, which finds nothing in what an `Explorer` orders.
package let isThreadSanitized = isLinked("__tsan_init")

private func isLinked(_ name: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), name) != nil }
