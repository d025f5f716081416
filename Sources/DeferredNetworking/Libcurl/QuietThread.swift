#if os(Linux)
import CLibcurl
import Foundation

/// Starts a thread that blocks all signals.
enum QuietThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// - Parameter name: At most 15 bytes.
    static func start(_ name: StaticString, _ run: @escaping @Sendable () -> Void) throws(POSIXError) {
        let body = Unmanaged.passRetained(Body(run))
        let result = quiet_thread_start(
            UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self),
            { context in
                guard let context else { return }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
            },
            body.toOpaque()
        )
        if result != 0 {
            body.release()
            throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EAGAIN)
        }
    }
}
#endif
