public import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClient {
    /// Cancels everything that runs or waits, streams included. The client goes on.
    ///
    /// Each of the tasks fails with `URLError.cancelled` before this returns.
    public func cancelAll() {
        core.abortAll { URLError(.cancelled, failing: $0) }
    }

    /// Lets end what was begun, and refuses what comes with ``URLClientError/shutDown``.
    ///
    /// - Returns: A future that is filled when all of it has ended and the connections are closed. Calling this again gives
    ///   the same future.
    @discardableResult
    public func shutdown() -> Future<Void> {
        core.close()
        return core.invalidated
    }

    /// Ends what was begun with ``URLClientError/shutDown``, and refuses what comes with the same error.
    ///
    /// - Returns: See ``shutdown()``. The tasks have ended before this returns; the future is filled when the session has let
    ///   go of them.
    @discardableResult
    public func invalidateAndCancel() -> Future<Void> {
        core.close()
        core.abortAll { _ in URLClientError.shutDown }
        return core.invalidated
    }
}
