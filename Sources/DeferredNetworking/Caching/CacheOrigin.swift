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
    let engine: any Engine
    let configuration: URLClient.Configuration
    let wantsOwnConnection: Bool
    let isMeasured: Bool
    let rateLimit: Int?
    let configure: EngineTaskConfiguration?

    /// Returns whether a response is a redirect, which the client's request follows or not.
    func isRedirect(_ head: ResponseHead) -> Bool {
        RedirectRules.target(head.status.code, head.value(of: "Location"), from: request.url) != nil
    }

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - headers: The header fields to send, at least those of the request.
    ///   - task: Told about what happens on the way, if it is still there.
    /// - Returns: A task that succeeds when the head of the response has arrived. Its cancellation stops the transfer
    ///   until then; after that, the body's does.
    func send(_ headers: HTTPHeaders, telling task: CachedTask?) -> URLClient.CacheConnection.Response {
        var request = request
        for field in headers.fields where request.value(of: field.name) != field.value {
            request = request.setting(field.value, for: field.name)
        }
        let promise = URLClient.CacheConnection.Response.Promise()
        let exchange = Exchange.begin(
            request,
            on: RetainedEngine(engine),
            .init(redirects: .none, deadlines: configuration.deadlines, rateLimit: rateLimit, configure: configure),
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

/// Delivers the head of a response, and then its bytes as they arrive. Redirects and challenges are left to the client's
/// request.
private struct OriginReceiver: ResponseReceiver {
    private let origin: CacheOrigin
    private let buffer: StreamBuffer
    private weak let task: CachedTask?
    private var isDelivered = false
    private var isRedirect = false
    private var sentCount: Int64 = 0

    init(_ origin: CacheOrigin, _ task: CachedTask?) {
        (self.origin, self.task) = (origin, task)
        buffer = StreamBuffer(origin.configuration)
    }

    var wantsOwnConnection: Bool { origin.wantsOwnConnection }

    func begin(_ request: CheckedRequest, of exchange: Exchange) -> CheckedRequest {
        buffer.pauseWhenFull(exchange)
        return request
    }

    mutating func receive(head: ResponseHead, of exchange: Exchange) throws -> HeadVerdict {
        guard !isDelivered, head.isHTTP else { throw URLError(.badServerResponse, failing: head.url) }
        isDelivered = true
        isRedirect = origin.isRedirect(head)
        return .deliver(HTTPBodyStream(buffer) { [weak exchange] in exchange?.cancel() })
    }

    func receive(interim head: ResponseHead) { task?.tell(.head(head)) }

    func receive(bytes: Data) throws {
        // Some engines deliver the body of a redirect, and others don't.
        if !isRedirect { try buffer.append(bytes) }
    }

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
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        guard isDelivered else {
            return .result(.failure(failure ?? URLError(.badServerResponse, failing: origin.request.url)))
        }
        buffer.finish(failure, trailers: try? result.get().trailers)
        return .delivered(failure)
    }
}

/// Tells the client's task what happens on the way to the server.
private final class OriginObserver: ExchangeDelegate {
    private weak let task: CachedTask?
    let isMeasured: Bool

    init(_ task: CachedTask?, isMeasured: Bool) {
        (self.task, self.isMeasured) = (task, isMeasured)
    }

    func noteActivity() { task?.tell(.activity) }

    func waitsForConnectivity() { task?.tell(.waiting) }

    func measured(_ metrics: URLClient.Metrics) { task?.tell(.measured(metrics)) }
}
