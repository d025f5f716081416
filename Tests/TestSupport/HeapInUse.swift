import Foundation

/// Returns the bytes of this process's heap that are in use, in all arenas.
/// 0 where the C library can't tell, and under a sanitizer, which has a heap of its own.
package func heapInUse() -> Int {
    #if canImport(Glibc)
    // Not in the module map of Swift's Glibc; and `mallinfo2` returns a struct, which can't be called without it.
    typealias Report = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    guard !isSanitized, let report = dlsym(dlopen(nil, RTLD_NOW), "malloc_info") else { return 0 }
    var (text, size): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
    guard let file = open_memstream(&text, &size) else { return 0 }
    _ = unsafeBitCast(report, to: Report.self)(0, file)
    fclose(file)
    defer { free(text) }
    guard let text else { return 0 }
    // The totals over all arenas come last: free chunks of two kinds, mapped chunks, and what the system gave.
    let totals = String(cString: text).components(separatedBy: "</heap>").last ?? ""
    func bytes(_ kind: String) -> Int {
        let line = totals.split(separator: "\n").first { $0.contains("type=\"\(kind)\"") }
        return line?.split(separator: "\"").last { Int($0) != nil }.flatMap { Int($0) } ?? 0
    }
    return bytes("current") + bytes("mmap") - bytes("fast") - bytes("rest")
    #else
    return 0
    #endif
}
