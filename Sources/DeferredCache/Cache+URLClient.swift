internal import DeferredCore
internal import DeferredHTTP
public import DeferredNetworking
internal import DeferredTask
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension Cache: URLClient.ResponseCache {
    /// Returns the connection by which a client uses this cache, for ``DeferredNetworking/URLClient/Configuration/cache``.
    public func connect() -> URLClient.CacheConnection {
        URLClient.CacheConnection { task in
            let loading = HTTPTask(HTTPRequest(task.origin.request))
            let observer = loading.observer
            loading.execution.whenEnded { result in
                switch result {
                case .success(let response): task.answer(with: response)
                case .failure(let error): task.fail(error.cause)
                }
            }
            load(loading, next: ClientOrigin(origin: task.origin, task: task))
            task.onCancel { observer.cancel() }
        }
    }
}

extension HTTPRequest {
    /// Creates the request that stands for a client's in its cache. The body stays where it is.
    fileprivate init(_ request: CheckedRequest) {
        let fields = request.request.allHTTPHeaderFields ?? [:]
        self.init(
            HTTPMethod(rawValue: request.request.httpMethod ?? "GET"),
            url: request.url,
            headers: HTTPHeaders(fields.map { .init(name: $0.key, value: $0.value) })
        )
        delivery = .stream
        switch request.request.cachePolicy {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: cachePolicy = .reload
        case .reloadRevalidatingCacheData: cachePolicy = .validate
        case .returnCacheDataDontLoad: cachePolicy = .anyAge
        case .returnCacheDataElseLoad where headers["Cache-Control"] == nil: headers["Cache-Control"] = "max-stale"
        default: break
        }
    }
}

extension CachedTask {
    fileprivate func answer(with response: HTTPResponse) {
        let (age, isConfirmed): (Duration?, Bool) =
            switch response.source {
            case .network: (nil, false)
            case .cache(let age, _): (age, false)
            case .validated(let age): (age, true)
            }
        if age == nil, !isSent {
            // Not a response of the server's, which another attempt could change.
            return fail(URLError(.resourceUnavailable))
        }
        let head = ResponseHead(
            url: response.url ?? origin.request.url,
            status: response.status,
            headers: response.headers,
            age: age,
            isConfirmed: isConfirmed
        )
        guard let stream = response.stream else { return answer(head, onCancel: {}) { nil } }
        let iterator = BodyIterator(stream.makeAsyncIterator())
        answer(head, onCancel: { stream.cancel() }, trailers: { stream.trailers }) {
            do {
                return try await iterator.next()
            } catch {
                throw (error as? HTTPError)?.cause ?? error
            }
        }
    }
}

extension HTTPError {
    /// The error in the form in which a client reports it.
    fileprivate var cause: any Error { code == .cancelled ? CancellationError() : underlying ?? self }
}

/// SAFETY: used by the one task that reads the body.
private final class BodyIterator: @unchecked Sendable {
    private var iterator: HTTPBodyStream.Iterator
    init(_ iterator: HTTPBodyStream.Iterator) { self.iterator = iterator }
    func next() async throws -> Data? { try await iterator.next() }
}

/// Sends the requests of a client that its cache passes on.
private struct ClientOrigin: HTTPLoader {
    let origin: CacheOrigin
    /// Gone when a request goes on without its client, in the background.
    private(set) weak var task: CachedTask?

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let request = task.request
        let sending = origin.send(request.headers.fields.map { ($0.name, $0.value) }, telling: self.task)
        task.addCancellationHandler { sending.cancel() }
        sending.upon(.immediate) { result in
            switch result {
            case .success(let (head, body)):
                Self.complete(task, HTTPResponse(request: request, head: head, .stream(body)), body)
            case .failure(let error):
                task.complete(with: .failure(HTTPError(error, request: request)))
            }
        }
    }

    private static func complete(_ task: HTTPTask, _ response: HTTPResponse, _ stream: HTTPBodyStream) {
        guard task.request.delivery == .data else {
            task.complete(with: .success(response))
            return
        }
        // To renew a response in the background.
        task.addCancellationHandler { stream.cancel() }
        DeferredTask.Task { try await stream.collect() }.upon(.immediate) { result in
            switch result {
            case .success(let bytes):
                task.complete(with: .success(response.with(body: .data(bytes))))
            case .failure(let error):
                task.complete(with: .failure(HTTPError(error, request: task.request)))
            }
        }
    }
}
