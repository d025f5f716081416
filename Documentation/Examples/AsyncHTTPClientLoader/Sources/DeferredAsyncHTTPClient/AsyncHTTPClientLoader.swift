import AsyncHTTPClient
import Deferred
import Foundation

/// A terminal loader over async-http-client.
///
/// ```swift
/// let chain = Retry() --> Throttle(maximum: 256) --> AsyncHTTPClientLoader(client: .shared)
/// ```
///
/// It gives responses in all forms that a request's `delivery` names. A file is written beside its destination and takes
/// its place in one step; a download that fails leaves nothing behind, and so there is nothing to resume. Progress
/// counts the bytes of the request's body where there is one, and otherwise those of the response's.
///
/// A request's `timeout` limits each silence. Redirects, connections and all other time-outs are the client's business.
/// Cancelling a task stops its transfer.
public struct AsyncHTTPClientLoader: HTTPLoader {
    private let client: HTTPClient
    private let maximumBodySize: Int

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - client: Shut down by its owner. Requests that come later fail with `HTTPError.Code.shutDown`.
    ///   - maximumBodySize: The largest body that is gathered in memory, in bytes. A larger one fails with
    ///     `HTTPError.Code.bodyTooLarge`. Files and streams have no limit.
    public init(client: HTTPClient, maximumBodySize: Int = 64 << 20) {
        self.client = client
        self.maximumBodySize = maximumBodySize
    }

    /// Begins a transfer, unless the task is cancelled or its request can't be sent.
    public func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let silence = task.request.timeout.map { SilenceTimer(limit: $0, clock: ContinuousClock()) }
        var transfer = Task { try await response(to: task, silence) }
        if let silence {
            transfer = [transfer, Task { try await silence.end() }].firstCompleted()
        }
        task.addCancellationHandler { [transfer] in transfer.cancel() }
        transfer.upon(.immediate) { result in
            switch result {
            case .success(let response): task.complete(with: .success(response))
            case .failure(let error as RequestBodyFailure): task.fail(.invalidRequest, underlying: error.underlying)
            case .failure(let error): task.fail(HTTPError.Code(error), underlying: error)
            }
        }
    }

    private func response(
        to task: HTTPTask,
        _ silence: SilenceTimer<ContinuousClock>?
    ) async throws -> HTTPResponse {
        let request = task.request
        let total = request.body.length
        let bytes = request.body.makeByteStream()
        do {
            let message = try HTTPClientRequest(request, bytes) { sent in
                silence?.touch()
                task.report(completed: sent, of: total)
            }
            let head = try await client.execute(message, deadline: .distantFuture)
            if !request.body.isEmpty, let total { task.report(completed: total, of: total) }
            return try await response(to: task, head) { received, total in
                silence?.touch()
                if request.body.isEmpty { task.report(completed: received, of: total) }
            }
        } catch {
            // Otherwise somebody might wait for bytes that nobody will send.
            bytes?.cancel()
            throw error
        }
    }

    private func response(
        to task: HTTPTask,
        _ head: HTTPClientResponse,
        _ onProgress: (_ received: Int64, _ total: Int64?) -> Void
    ) async throws -> HTTPResponse {
        let request = task.request
        let status = HTTPStatus(Int(head.status.code))
        let headers = HTTPHeaders(head.headers.map { .init(name: $0.name, value: $0.value) })
        switch request.delivery {
        case .stream:
            let reader = BodyReader(head.body, of: request)
            let stream = HTTPBodyStream(reader) { reader.stop() }
            return HTTPResponse(request: request, status: status, headers: headers, stream: stream, url: head.url)
        case .file(let file, _) where status.isSuccess:
            try await head.write(to: file, onProgress)
            return HTTPResponse(request: request, status: status, headers: headers, file: file, url: head.url)
        case .file:
            let data = try await head.prefix(64 << 10)
            return HTTPResponse(request: request, status: status, headers: headers, body: data, url: head.url)
        case .data:
            let data = try await head.collect(upTo: maximumBodySize, onProgress)
            return HTTPResponse(request: request, status: status, headers: headers, body: data, url: head.url)
        }
    }
}
