internal import DeferredCore
public import DeferredNetworking
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A terminal loader over a ``DeferredNetworking/URLClient``, which has its own URLSession.
///
/// ```swift
/// let chain = Retry() --> URLSessionLoader()
/// ```
///
/// Requests are sent by the part of a client that both share: it follows redirects, limits connections and bodies, and
/// enforces deadlines, as configured. What a client decides above it is left to the chain's ``Retry``,
/// ``BasicAuthentication``, ``BearerAuthentication`` and ``Validate``, so that no request is tried nine times where
/// three were meant. Every response is delivered as such, whatever its status.
///
/// The ``HTTPRequest/delivery`` of a request decides whether the body is gathered in memory, read as it arrives, or
/// written to a file, which can resume a failed download. Only the body of a success goes to the file: of another
/// response, the first 64 KiB are in memory.
///
/// Cancelling a task completes it at once, and stops the transfer. Progress counts the bytes of the request's body
/// if there is one, and otherwise those of the response's body.
///
/// **Lifetime:** the session lives until the last copy of the loader, and of the chains that contain it, has been
/// released and all of its transfers have ended. ``HTTPLoader/reset()`` leaves it alone.
public struct URLSessionLoader: HTTPLoader {
    /// Keeps the transport open.
    private let client: URLClient

    /// Creates a loader with its own session.
    ///
    /// - Parameter configuration: Copied. Its retries, authentication and validation are for the requests of clients only.
    public init(configuration: URLClient.Configuration = .default) {
        client = URLClient(configuration: configuration)
    }

    /// Creates a loader over a client that is also used elsewhere.
    ///
    /// - Parameter client: Its limits, redirects, deadlines and cookies apply here as well. Its retries, authentication
    ///   and validation don't: they are left to the chain.
    public init(client: URLClient) {
        self.client = client
    }

    /// Starts a transfer, unless the task is cancelled or its request can't be sent.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let request = withDefaultHeaders(task.request)
        let checked: CheckedRequest
        do {
            checked = try request.checked()
        } catch {
            task.complete(with: .failure(HTTPError(error, request: request)))
            return
        }
        var options = URLClient.RequestOptions()
        options.idle = request.timeout
        options.originBoundFields = request[OriginBoundFieldsOption.self]
        options.task = task.execution.identity.uuid
        options.onInterimResponse = request.onInterimResponse
        options.cachePartition = request[CachePartitionOption.self]
        options.rateLimit = request.rateLimit
        if request.redirection != .followedByClient { options.redirects = URLClient.RedirectPolicy.none }
        let (original, reporter, transport) = (checked.request, task.execution.reporter, client.transport)
        switch request.delivery {
        case .data:
            let direction: BodyProgress.Direction = request.body.isEmpty ? .received : .sent
            let transfer = transport.gather(
                original,
                { checked },
                options: options,
                policies: .ofChain,
                counting: direction,
                in: reporter
            )
            task.follow(transfer) { body, head in HTTPResponse(request: request, head: head, .data(body)) }
        case .stream:
            let transfer =
                transport.stream(original, { checked }, options: options, policies: .ofChain, in: reporter)
            task.follow(transfer) { response in
                let body = response.body
                let stream = HTTPBodyStream(
                    body,
                    isWoken: true,
                    onCancel: { body.cancel() },
                    trailers: { body.trailers },
                    mapError: { $0 is CancellationError ? $0 : HTTPError($0, request: request) }
                )
                return HTTPResponse(request: request, head: response.head, .stream(stream))
            }
        case .file(let file, let resuming):
            let transfer = transport.download(
                original,
                { checked },
                to: file,
                resuming: resuming,
                options: options,
                policies: .none,
                in: reporter
            )
            task.follow(transfer) { _, head in HTTPResponse(request: request, head: head, .file(file)) }
        }
    }

    /// Returns a request as it is sent. A cache above sees in the response's request what it didn't know of.
    private func withDefaultHeaders(_ request: HTTPRequest) -> HTTPRequest {
        let defaults = client.transport.defaultHeaders
        if defaults.fields.isEmpty { return request }
        var request = request
        request.headers.addMissing(from: defaults)
        return request
    }
}

extension HTTPTask {
    /// Completes the task with the response that `make` makes of the result of `transfer`, and cancels `transfer` with the
    /// task, or when that is complete.
    fileprivate func follow<Value>(
        _ transfer: DeferredTask.Task<Value>,
        as make: @escaping @Sendable (Value) -> HTTPResponse
    ) {
        whenUnneeded { transfer.cancel() }
        transfer.upon(.immediate) { result in
            switch result {
            case .success(let value):
                self.complete(with: .success(make(value)))
            case .failure(let error):
                // Downloads refuse statuses by themselves. In a chain, these are responses.
                if let refused = (error as? URLClientError).flatMap({ HTTPResponse($0, self.request) }) {
                    self.complete(with: .success(refused))
                } else {
                    self.complete(with: .failure(HTTPError(error, request: self.request)))
                }
            }
        }
    }
}

extension HTTPResponse {
    package init(request: HTTPRequest, head: ResponseHead, _ body: Body) {
        self.init(
            request: request,
            status: head.status,
            headers: head.headers,
            body,
            url: head.url,
            trailers: head.trailers
        )
    }
}
