internal import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The time limit of a session's configuration for a whole request.
///
/// swift-corelibs-foundation ignores `timeoutIntervalForResource`; no issue is known upstream. Tests:
/// `URLSessionTests`, "the session's time-out for resources ends an endless request", and the same of a
/// client.
enum ResourceTimeout {
    /// Foundation's default of seven days: not a limit that the caller has chosen.
    private static let defaultTimeout: TimeInterval = 7 * 24 * 60 * 60

    /// Returns the time-out, or nil if none was chosen.
    static func chosen(in configuration: URLSessionConfiguration) -> Duration? {
        let timeout = configuration.timeoutIntervalForResource
        guard timeout.isFinite, timeout >= 0, timeout < defaultTimeout else { return nil }
        return .seconds(timeout)
    }

    /// Ends a transfer on a user's session when the time-out expires before its result.
    static func limit(
        _ session: URLSession,
        _ url: URL,
        until end: some FutureProtocol,
        abort: @escaping @Sendable (any Error) -> Void
    ) {
        guard SessionPlatform.isCorelibs, let timeout = chosen(in: session.configuration) else { return }
        let deadline = ClockTimer(after: timeout, clock: ContinuousClock()) {
            abort(URLError(.timedOut, failing: url, description: "The whole request took longer than \(timeout)"))
        }
        end.upon(.immediate) { _ in deadline.cancel() }
    }
}
