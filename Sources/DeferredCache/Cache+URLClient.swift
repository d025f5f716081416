internal import DeferredCore
internal import DeferredHTTP
public import DeferredNetworking
internal import DeferredTask
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

extension URLClient.Configuration {
    /// The cache that answers requests without the server where it may; `nil`, the default, for none.
    ///
    /// ```swift
    /// configuration.cache = Cache(.disk(at: folder))
    /// ```
    ///
    /// It is asked for each attempt, with the credential that the attempt has, and for each redirect, in all ways to
    /// take a response; the part of a download that is there is completed. Equal requests in flight are sent once.
    /// A request's own `cachePolicy` is honoured: `reloadIgnoringLocalCacheData` asks the server in any case,
    /// `reloadRevalidatingCacheData` whether the stored response is still right, and `returnCacheDataDontLoad`, for
    /// a program that is offline, takes a response of any age, and fails with `URLError.resourceUnavailable` if
    /// there is none. ``DeferredNetworking/URLClient/Event/Kind/cached(age:isConfirmed:)`` tells of responses from the cache.
    ///
    /// Clients can share a cache. What they add to requests separates their users, such as a credential; what a client
    /// with ``DeferredNetworking/URLClient/Configuration/authentication`` gets without it is for that client alone, too, unless the response is `public`. Cookies and
    /// client certificates are no part of a request that the cache sees: clients with different ones need a cache each,
    /// or a ``DeferredNetworking/URLClient/RequestOptions/cachePartition``.
    public var cache: Cache? {
        get { responseCache as? Cache }
        set { responseCache = newValue }
    }
}

extension Cache: URLClient.ResponseCache {
    package func connect() -> URLClient.CacheConnection {
        let client = UUID().uuidString
        return URLClient.CacheConnection { request, caller, send in
            var asked = HTTPRequest(request)
            asked.cachePartition = caller.partition
            if caller.isPersonal { asked[CacheOwnerOption.self] = client }
            asked[CacheSenderOption.self] = .init(client: client, timeout: caller.timeout)
            let loading = HTTPTask(asked)
            let observer = loading.observer
            let promise = URLClient.CacheConnection.Response.Promise()
            loading.execution.whenEnded { result in
                let found = result.mapError { $0.cause }
                promise.fill(with: found.map { (ResponseHead($0, to: request), $0.stream ?? .empty) })
            }
            load(loading, ClientOrigin(send: send), for: caller.task)
            return DeferredTask.Task(promise, uponCancel: { observer.cancel() })
        }
    }
}

/// Identifies the client whose responses are its own, unless they are public.
enum CacheOwnerOption: HTTPRequestOption {
    static let defaultValue: String? = nil

    /// The name under which the client stands beside the fields of a request. No field has such a name.
    static let name = ":client"
}

/// Tells apart the requests that wait for an equal one and don't fail with it: another client has its own connections,
/// and another time-out its own end. They share a response all the same.
enum CacheSenderOption: HTTPRequestOption {
    struct Sender: Hashable, Sendable {
        let client: String
        /// In seconds.
        let timeout: TimeInterval
    }

    static let defaultValue: Sender? = nil
}

extension HTTPRequest {
    /// Creates the request that stands for a client's in its cache. The body stays where it is.
    init(_ request: CheckedRequest) {
        let fields = request.request.allHTTPHeaderFields ?? [:]
        self.init(
            HTTPMethod(rawValue: request.request.httpMethod ?? "GET"),
            url: request.url,
            // A dictionary has no order, and equal requests have their fields in the same one.
            headers: HTTPHeaders(sorting: fields)
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

extension ResponseHead {
    fileprivate init(_ response: HTTPResponse, to request: CheckedRequest) {
        let use = response.source.use
        self.init(
            url: response.url ?? request.url,
            status: response.status,
            headers: response.headers,
            age: use?.age,
            isConfirmed: use?.isConfirmed ?? false
        )
    }
}

extension HTTPError {
    /// The error in the form in which a client reports it.
    fileprivate var cause: any Error { code == .cancelled ? CancellationError() : underlying ?? self }
}

extension HTTPRequest {
    /// Returns an error of a body in the form in which the request's client, or its chain, reports it.
    func error(for error: any Error) -> any Error {
        if error is CancellationError { return error }
        if self[CacheSenderOption.self] != nil { return (error as? HTTPError)?.cause ?? error }
        return HTTPError(error, request: self)
    }
}

/// Sends the requests of a client that its cache passes on.
private struct ClientOrigin: HTTPLoader {
    let send: URLClient.CacheConnection.Sender

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let request = task.request
        let sending = send(request.headers)
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
            let collected = result.map { response.with(body: .data($0)) }
            task.complete(with: collected.mapError { HTTPError($0, request: task.request) })
        }
    }
}
