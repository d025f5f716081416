internal import CDeferred
internal import Synchronization

/// Reports futures that were dropped unfilled while handlers waited for them, and waits that block a thread on which
/// others depend.
///
/// A ``Deferred`` whose last reference is released while handlers wait for its value is almost always a bug: the
/// handlers are freed, and never run. Debug builds report it. Release builds neither record nor report anything.
public enum DeferredDiagnostics {
    /// A report of a future that was dropped unfilled while handlers waited.
    public struct Unfilled: Sendable, CustomStringConvertible {
        /// The file that created the future, as `Module/File.swift`.
        public let file: StaticString
        /// The line that created the future.
        public let line: UInt

        @usableFromInline
        init(file: StaticString, line: UInt) {
            self.file = file
            self.line = line
        }

        /// A line of text for a log.
        public var description: String {
            "\(file):\(line): a Deferred was dropped unfilled while handlers waited for it; they will never run"
        }
    }

    /// The closure that is called with each report, on the thread that dropped the last reference.
    ///
    /// By default, it prints to standard error. It may be set at any time, from any thread. It must not trap, since the
    /// thread that calls it has done nothing wrong.
    public static var unfilledHandler: @Sendable (Unfilled) -> Void {
        get { handlers.withLock { $0.unfilled } }
        set { change { $0.unfilled = newValue } }
    }

    /// A report of a wait that blocks the thread of a client's engine.
    ///
    /// A handler with the executor `.immediate`, or a client's monitor, may run on that thread. While it waits there, all
    /// requests of the client stall. A wait for one of them, or for the client's shutdown, lasts until its deadline.
    public struct Blocked: Sendable, CustomStringConvertible {
        /// The name of the operation that blocks, such as `wait(until:)`.
        public let operation: StaticString

        /// A line of text for a log.
        public var description: String {
            "\(operation) blocks the thread that a client's requests run on: all of them stall meanwhile; run the handler "
                + "on another executor than .immediate, or await the value"
        }
    }

    /// The closure that is called with the first such wait of the process, on the thread that is about to block, in
    /// debug builds.
    ///
    /// By default, it prints to standard error. It may be set at any time, from any thread.
    public static var blockedHandler: @Sendable (Blocked) -> Void {
        get { handlers.withLock { $0.blocked } }
        set { change { $0.blocked = newValue } }
    }

    private static let handlers = Lock(Handlers())
    private static let hasReportedBlocked = Atomic(false)

    /// Marks the current thread, until it ends, as one that must not block.
    package static func markThreadAsNeeded() {
        deferred_nesting().pointee.isNeeded = 1
    }

    /// Reports an operation that is about to block this thread, if the thread is one that must not.
    static func noteBlocking(_ operation: StaticString) {
        #if DEBUG
        guard deferred_nesting().pointee.isNeeded != 0, !hasReportedBlocked.exchange(true, ordering: .relaxed) else {
            return
        }
        blockedHandler(Blocked(operation: operation))
        #endif
    }

    /// The closures that are called with reports; by default, they print them.
    ///
    /// In a struct, since a bare closure is wrapped in another one each time it passes through a generic function, so that
    /// each access through the lock would add a layer.
    private struct Handlers {
        var unfilled: @Sendable (Unfilled) -> Void = { printToStandardError("\($0)") }
        var blocked: @Sendable (Blocked) -> Void = { printToStandardError("\($0)") }
    }

    private static func change(_ body: (inout Handlers) -> Void) {
        let old = handlers.withLock { handlers in
            let old = handlers
            body(&handlers)
            return old
        }
        // Released outside of the lock: a deinitialiser of its captures may read a property here.
        withExtendedLifetime(old) {}
    }
}
