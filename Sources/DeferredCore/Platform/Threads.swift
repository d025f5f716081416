// What Swift has no portable spelling for: a slot of the current thread's own, and giving up its time slice.
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// One value of `Content` for each thread, made when first asked for and freed when the thread ends.
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

    package var value: Content { unretained.takeUnretainedValue() }

    /// The value without a reference to be counted: it stays as long as this thread.
    package var unretained: Unmanaged<Content> {
        if let content = pthread_getspecific(key) { return Unmanaged.fromOpaque(content) }
        return made
    }

    @inline(never)
    private var made: Unmanaged<Content> {
        let content = Unmanaged.passRetained(make())
        pthread_setspecific(key, content.toOpaque())
        return content
    }
}

/// Waits for another thread's next few instructions: spins, then lets others run, should that thread have lost the
/// processor.
@usableFromInline
struct Backoff {
    private var rounds = 0

    @usableFromInline
    init() {}

    /// - Parameter word: What that thread is going to change.
    @usableFromInline
    mutating func wait(for word: borrowing AtomicWord) {
        #if DEBUG
        if word.block() { return }
        #endif
        rounds += 1
        if rounds > 64 { sched_yield() }
    }
}

private let posixWrite = write

/// The standard error stream, one write a text.
struct StandardError: TextOutputStream {
    func write(_ text: String) {
        var text = text
        text.withUTF8 { _ = posixWrite(2, $0.baseAddress, $0.count) }
    }
}
