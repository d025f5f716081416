import Foundation

/// Time-outs in the unit and the range that libcurl can hold.
///
/// swift-corelibs-foundation cuts time-outs down to whole seconds, so that 0.5 s fails at once, and traps on those that do
/// not fit into an integer of milliseconds. No issue is known upstream. Tests: `CheckedRequestTests`, "Time-outs are rounded up
/// to whole seconds"; `URLSessionTests`, "a time-out of half a second allows an answer after 100 ms".
enum TimeoutRounding {
    /// The longest time-out, some 24 days: libcurl counts milliseconds in 32 bits.
    static let longest: TimeInterval = 2_147_483

    /// `timeout` rounded up to whole seconds, at least 1.
    static func rounded(_ timeout: TimeInterval) -> TimeInterval {
        #if canImport(FoundationNetworking)
        min(max(timeout.rounded(.up), 1), longest)
        #else
        timeout
        #endif
    }

    /// A session's time-out, where there is nobody to report a senseless one to: it becomes the default.
    static func repaired(_ timeout: TimeInterval) -> TimeInterval {
        guard !timeout.isNaN, timeout > 0 else { return 60 }
        return rounded(timeout)
    }
}
