import Foundation

/// Rounds time-outs to the unit and the range of libcurl.
///
/// swift-corelibs-foundation truncates time-outs to whole seconds, so that 0.5 s expires at once, and traps on those
/// whose milliseconds don't fit into an integer. No issue is known upstream. Tests: `CheckedRequestTests`, "time-outs
/// are rounded up to whole seconds"; `URLSessionTests`, "a time-out of half a second allows an answer after 100 ms".
enum TimeoutRounding {
    /// The longest time-out, some 24 days: libcurl counts milliseconds in 32 bits.
    static let longest: TimeInterval = 2_147_483

    /// Returns `timeout` rounded up to whole seconds, at least 1.
    static func rounded(_ timeout: TimeInterval) -> TimeInterval {
        SessionPlatform.isCorelibs ? min(max(timeout.rounded(.up), 1), longest) : timeout
    }

    /// Returns a session's time-out, or the default for an invalid one, which can't be reported here.
    static func repaired(_ timeout: TimeInterval) -> TimeInterval {
        guard !timeout.isNaN, timeout > 0 else { return 60 }
        return rounded(timeout)
    }
}
