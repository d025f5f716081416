/// Reports futures that were dropped unfilled while handlers waited for them.
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
        get { handler.withLock { $0.call } }
        set {
            let old = handler.withLock { handler in
                let old = handler
                handler = Handler(call: newValue)
                return old
            }
            // Released outside of the lock: a deinitialiser of its captures may read this property.
            withExtendedLifetime(old) {}
        }
    }

    /// A box for the closure.
    ///
    /// A bare closure is wrapped in another one each time it passes through a generic function, so that each access
    /// through the lock would add a layer.
    private struct Handler: Sendable {
        let call: @Sendable (Unfilled) -> Void
    }

    private static let handler = Lock(
        Handler { unfilled in
            var standardError = StandardError()
            print("\(unfilled)", to: &standardError)
        }
    )

    /// The source location at which a `Deferred` was created.
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
