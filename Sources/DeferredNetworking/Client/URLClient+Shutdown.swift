public import DeferredCore
public import DeferredTask
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

    /// Lets current requests finish, and refuses new ones with ``URLClientError/Code/shutDown``.
    ///
    /// Work that the client is kept open for is waited for, too: see ``keepOpen(for:)``.
    ///
    /// - Returns: A future that is filled when all requests have ended and the connections are closed. Calling this
    ///   again returns the same future.
    @discardableResult
    public func shutdown() -> Future<Void> {
        transport.close()
        return transport.invalidated
    }

    /// Fails current requests with ``URLClientError/Code/shutDown``, and refuses new ones with the same error.
    ///
    /// - Returns: See ``shutdown()``. The tasks have ended before this returns; the future is filled when the session
    ///   has released them.
    @discardableResult
    public func invalidateAndCancel() -> Future<Void> {
        transport.close(finishesWork: false)
        transport.abortAll { _ in URLClientError.shutDown }
        return transport.invalidated
    }

    /// Lets ``shutdown()`` wait for work that consists of several requests, and for the clean-up after it.
    ///
    /// ```swift
    /// let upload = client.keepOpen(for: parts(of: file).always { result in
    ///     if case .failure = result { _ = await client.begin(abort).result }
    /// })
    /// upload.cancel()
    /// await client.shutdown().value  // after the parts were removed at the server
    /// ```
    ///
    /// Until the task has ended, all new requests are accepted, also after ``shutdown()``; ``invalidateAndCancel()`` waits
    /// for nothing. To be called before ``shutdown()``.
    ///
    /// - Parameter task: Not cancelled by the client. It is kept until it has ended, and so is the client's engine.
    /// - Returns: The task.
    @discardableResult
    public func keepOpen<Success: Sendable>(for task: Task<Success>) -> Task<Success> {
        transport.keepOpen(for: task)
        return task
    }
}
