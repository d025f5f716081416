/// Reports futures that nobody filled.
///
/// In debug builds, a ``Deferred`` whose last reference goes while handlers wait for its value is almost always a bug:
/// the handlers are freed, and will never run. In release builds nothing is recorded or reported.
public enum DeferredDiagnostics {
    /// A future that went unfilled while handlers waited.
    public struct Unfilled: Sendable, CustomStringConvertible {
        /// The file of its `init`, as `Module/File.swift`.
        public let file: StaticString
        /// The line of its `init`.
        public let line: UInt

        /// One line for a log.
        public var description: String {
            "\(file):\(line): a Deferred was dropped unfilled while handlers waited for it; they will never run"
        }
    }

    /// Called with each report, on the thread that dropped the last reference. By default, prints to standard error.
    ///
    /// May be set at any time, from any thread. It must not trap, for that thread has done nothing wrong.
    public static var unfilledHandler: @Sendable (Unfilled) -> Void {
        get { handler.withLock { $0.call } }
        set {
            let old = handler.withLock { handler in
                let old = handler
                handler = Handler(call: newValue)
                return old
            }
            // Let go outside of the lock: what it captured may ask for the handler while it goes.
            withExtendedLifetime(old) {}
        }
    }

    /// A bare closure would be wrapped in another each time that it passes through a generic function, so that a lock
    /// would keep one more for each look.
    private struct Handler: Sendable {
        let call: @Sendable (Unfilled) -> Void
    }

    private static let handler = Lock(
        Handler { unfilled in
            var standardError = StandardError()
            print("\(unfilled)", to: &standardError)
        }
    )

    /// Where a user made a `Deferred`.
    @usableFromInline
    struct Origin: Sendable {
        @usableFromInline let file: StaticString
        @usableFromInline let line: UInt

        @inlinable
        init(file: StaticString, line: UInt) {
            self.file = file
            self.line = line
        }
    }

    @usableFromInline
    static func report(_ origin: Origin) {
        unfilledHandler(Unfilled(file: origin.file, line: origin.line))
    }
}
