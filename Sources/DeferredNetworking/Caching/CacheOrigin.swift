internal import DeferredCore
import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The way from a client's cache to the server of one request. It can be used also when the client's own request has
/// ended, to renew a response in the background.
struct CacheOrigin: Sendable {
    let request: CheckedRequest

    /// The engine below the cache, also of a client that is released meanwhile.
    let engine: RetainedEngine
    let configuration: URLClient.Configuration
    let wantsOwnConnection: Bool
    let isMeasured: Bool
    let settings: Exchange.Settings

    /// Returns whether a response is a redirect, which the client's request follows or not.
    func isRedirect(_ head: ResponseHead) -> Bool {
        RedirectRules.target(head.status.code, in: head.headers, from: request.url) != nil
    }

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - headers: The header fields to send. Those of the request that are not among them are left out.
    ///   - task: Told about what happens on the way, if it is still there.
    /// - Returns: A task that succeeds when the head of the response has arrived. Its cancellation stops the transfer
    ///   until then; after that, the body's does.
    func send(_ headers: HTTPHeaders, telling task: CachedTask?) -> URLClient.CacheConnection.Response {
        var request = request
        // When the cache renews a response, it drops the range and the conditions of the client.
        for name in (request.request.allHTTPHeaderFields ?? [:]).keys where headers[name] == nil {
            request = request.setting(nil, for: name)
        }
        for field in headers.fields where request.value(of: field.name) != field.value {
            request = request.setting(field.value, for: field.name)
        }
        let promise = URLClient.CacheConnection.Response.Promise()
        let exchange = Exchange.begin(
            request,
            on: engine,
            settings,
            delegate: OriginObserver(task, isMeasured: isMeasured),
            to: OriginReceiver(self, task)
        ) { result, _ in
            promise.fill(
                with: result.map { response in
                    let (body, head) = response.stream
                    return (isRedirect(head) ? head.withoutLength() : head, body)
                }
            )
        }
        task?.sent(by: exchange)
        return Task(promise, uponCancel: { [weak exchange] in exchange?.cancel() })
    }
}

/// Delivers a response as it arrives, and tells the client's task what comes before it. Redirects and challenges are left to
/// the client's request.
private struct OriginReceiver: ResponseReceiver {
    private let origin: CacheOrigin
    private weak let task: CachedTask?
    private var stream: StreamReceiver
    private var isRedirect = false
    private var sentCount: Int64 = 0

    init(_ origin: CacheOrigin, _ task: CachedTask?) {
        self.origin = origin
        self.task = task
        stream = StreamReceiver(StreamBuffer(origin.configuration), onProgress: { _ in })
    }

    var wantsOwnConnection: Bool { origin.wantsOwnConnection }

    mutating func begin(_ request: CheckedRequest, of exchange: Exchange) -> CheckedRequest {
        stream.begin(request, of: exchange)
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
        isRedirect = origin.isRedirect(head)
        return try stream.receive(head: head, of: exchange)
    }

    func receive(interim head: ResponseHead) { task?.tell(.head(head)) }

    func receive(bytes: Data) throws {
        // Some engines deliver the body of a redirect, and others don't.
        if !isRedirect { try stream.receive(bytes: bytes) }
    }

    func receive(end head: ResponseHead) { stream.receive(end: head) }

    mutating func report(_ progress: BodyProgress) {
        guard progress.direction == .sent else { return }
        if progress.completed < sentCount {
            sentCount = 0
            task?.tell(.bodyBegan())
        }
        task?.tell(.sent(progress.completed - sentCount, of: progress.total))
        sentCount = progress.completed
    }

    func finish(_ result: Result<ResponseHead, any Error>) -> AttemptEnd {
        let end = stream.finish(result)
        if case .failure(let error) = result { task?.sent.fill(with: error) } else { task?.sent.fill(with: nil) }
        return end
    }
}

/// Tells the client's task what happens on the way to the server.
private final class OriginObserver: ExchangeDelegate {
    private weak let task: CachedTask?
    let isMeasured: Bool

    init(_ task: CachedTask?, isMeasured: Bool) {
        self.task = task
        self.isMeasured = isMeasured
    }

    func note(_ event: EngineEvent) {
        switch event {
        case .activity, .waiting, .measured: task?.tell(event)
        default: break
        }
    }
}
