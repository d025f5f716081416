// POSIX functions without a portable Swift spelling: thread-local storage, yielding the processor, standard error.
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// A thread-local value, created on first use and freed when the thread ends.
package struct ThreadLocal<Content: AnyObject>: Sendable {
    private let key: pthread_key_t
    private let make: @Sendable () -> Content

    package init(_ make: @escaping @Sendable () -> Content) {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { content in
            // Darwin passes a pointer here, Linux an optional one; `as` makes both the same.
            if let content = content as UnsafeMutableRawPointer? {
                Unmanaged<AnyObject>.fromOpaque(content).release()
            }
        }
        precondition(
            status == 0,
            "pthread_key_create failed with \(status): this process uses too many thread-local keys"
        )
        self.key = key
        self.make = make
    }

    package var value: Content {
        if let content = pthread_getspecific(key) { return Unmanaged.fromOpaque(content).takeUnretainedValue() }
        let content = make()
        pthread_setspecific(key, Unmanaged.passRetained(content).toOpaque())
        return content
    }
}

/// Lets another thread have the processor, if one waits for it.
func yieldProcessor() { sched_yield() }

/// Writes a line to the standard error stream, with one system call.
func printToStandardError(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { _ = write(2, $0.baseAddress, $0.count) }
}
