public import DeferredCore
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLClient {
    /// Cancels all running and waiting requests, streams included. The client remains usable.
    ///
    /// Each task fails with `URLError.cancelled` before this returns.
    public func cancelAll() {
        transport.abortAll { URLError(.cancelled, failing: $0) }
    }

    /// Lets current requests finish, and refuses new ones with ``URLClientError/shutDown``.
    ///
    /// - Returns: A future that is filled when all requests have ended and the connections are closed. Calling this
    ///   again returns the same future.
    @discardableResult
    public func shutdown() -> Future<Void> {
        transport.close()
        return transport.invalidated
    }

    /// Fails current requests with ``URLClientError/shutDown``, and refuses new ones with the same error.
    ///
    /// - Returns: See ``shutdown()``. The tasks have ended before this returns; the future is filled when the session
    ///   has released them.
    @discardableResult
    public func invalidateAndCancel() -> Future<Void> {
        transport.close()
        transport.abortAll { _ in URLClientError.shutDown }
        return transport.invalidated
    }
}
