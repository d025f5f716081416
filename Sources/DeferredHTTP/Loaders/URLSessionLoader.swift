internal import DeferredCore
public import DeferredNetworking
internal import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A terminal loader over ``DeferredNetworking/URLClient``, and so over a URLSession of its own.
///
/// ```swift
/// let chain = Retry() --> URLSessionLoader()
/// ```
///
/// The client follows redirects, limits connections and bodies, and keeps deadlines, as its configuration says. What it
/// could do besides, try again, answer challenges and refuse statuses, is the business of the chain's ``Retry``,
/// ``BasicAuthentication``, ``BearerAuthentication`` and ``Validate``: it is switched off, so that no request is tried nine
/// times where three were meant. Every response arrives as such, whatever its status.
///
/// Cancelling a task completes it at once, and stops the transfer. Progress counts the bytes of the request's body where
/// there is one, and otherwise those of the response's.
///
/// **Lifetime:** the session goes when the last copy of the loader, and of the chains it is in, has gone, and what was
/// begun has ended. ``HTTPLoader/reset()`` leaves it alone.
public struct URLSessionLoader: HTTPLoader {
    private let client: URLClient

    /// Creates a loader with a session of its own.
    ///
    /// - Parameter configuration: Copied. Its retries, authentication and validation are not used.
    public init(configuration: URLClient.Configuration = .default) {
        var configuration = configuration
        configuration.retries = .none
        configuration.authentication = .none
        configuration.validation = .any
        client = URLClient(configuration: configuration)
    }

    /// Creates a loader over a client that is used elsewhere, too.
    ///
    /// - Parameter client: Does all that it is configured for, also retries and authentication, which then happen below
    ///   those of the chain. A status that it doesn't accept is an ``HTTPError/Code/unacceptableStatus``, whose response has
    ///   no more than the first 64 KiB of the body.
    public init(client: URLClient) {
        self.client = client
    }

    /// Begins a transfer, unless the task is cancelled or its request can't be sent.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let (request, body): (URLRequest, CheckedRequest.Body)
        do {
            (request, body) = try task.request.makeURLRequest()
        } catch {
            task.complete(with: .failure(HTTPError(error, request: task.request)))
            return
        }
        let direction: BodyProgress.Direction = task.request.body.isEmpty ? .received : .sent
        let transfer = client.gather(request, body: body, counting: direction, in: task.reporter)
        task.addCancellationHandler { transfer.cancel() }
        transfer.upon(.immediate) { result in
            let request = task.request
            task.complete(
                with: result.map { HTTPResponse($1, body: $0, to: request) }.mapError {
                    HTTPError($0, request: request)
                }
            )
        }
    }
}

extension HTTPResponse {
    fileprivate init(_ head: HTTPURLResponse, body: Data, to request: HTTPRequest) {
        self.init(
            request: request,
            status: HTTPStatus(head.statusCode),
            headers: HTTPHeaders(head),
            body: body,
            url: head.url
        )
    }
}

extension HTTPHeaders {
    /// The fields of a response, by name.
    init(_ head: HTTPURLResponse) {
        let fields = head.allHeaderFields.compactMap { name, value -> Field? in
            guard let name = name as? String, let value = value as? String else { return nil }
            return Field(name: name, value: value)
        }
        self.init(fields.sorted { $0.name < $1.name })
    }
}
