internal import DeferredCore
package import DeferredTask
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The way from a client's cache to the server of one request. It can be used also when the client's own request has
/// ended, to renew a response in the background.
package struct CacheOrigin: Sendable {
    package let request: CheckedRequest
    let engine: any Engine
    let configuration: URLClient.Configuration
    let wantsOwnConnection: Bool
    let isMeasured: Bool
    let configure: EngineTaskConfiguration?

    /// Returns whether a response is a redirect, which the client's request follows or not.
    func isRedirect(_ head: ResponseHead) -> Bool {
        RedirectRules.target(head.status.code, head.value(of: "Location"), from: request.url) != nil
    }

    /// Sends the request.
    ///
    /// - Parameters:
    ///   - fields: The header fields to send, at least those of the request.
    ///   - task: Told about what happens on the way, if it is still there.
    /// - Returns: A task that succeeds when the head of the response has arrived. Its cancellation stops the transfer
    ///   until then; after that, the body's does.
    package func send(
        _ fields: [(name: String, value: String)],
        telling task: CachedTask?
    ) -> Task<(ResponseHead, HTTPBodyStream)> {
        var request = request
        for (name, value) in fields where request.value(of: name) != value {
            request = request.setting(value, for: name)
        }
        let promise = Task<(ResponseHead, HTTPBodyStream)>.Promise()
        let sink = OriginSink(self, promise, task, isMeasured: isMeasured)
        let transfer = Transfer(
            request,
            on: EngineLease(engine),
            deadlines: TransferDeadlines(configuration.deadlines, request),
            decider: sink,
            configure: configure,
            sink: sink
        )
        task?.sent(by: transfer)
        return Task(promise, uponCancel: { [weak transfer] in transfer?.cancel() })
    }
}

/// Delivers the head of a response, and then its bytes as they arrive. Redirects and challenges are left to the client's
/// request.
///
/// SAFETY: a sink has one transfer, which calls it in order and never twice at once, and whose lock orders the calls.
private final class OriginSink: TransferSink, TransferDecider, @unchecked Sendable {
    let isMeasured: Bool
    private let origin: CacheOrigin
    private let promise: Task<(ResponseHead, HTTPBodyStream)>.Promise
    private let buffer: StreamBuffer
    private weak var task: CachedTask?
    private weak var transfer: Transfer?
    private var isDelivered = false
    private var isRedirect = false
    private var sentCount: Int64 = 0

    init(
        _ origin: CacheOrigin,
        _ promise: Task<(ResponseHead, HTTPBodyStream)>.Promise,
        _ task: CachedTask?,
        isMeasured: Bool
    ) {
        (self.origin, self.promise, self.task, self.isMeasured) = (origin, promise, task, isMeasured)
        buffer = StreamBuffer(origin.configuration)
    }

    var wantsOwnConnection: Bool { origin.wantsOwnConnection }

    func begin(_ transfer: Transfer) {
        self.transfer = transfer
        buffer.hold(transfer)
    }

    func receive(head: ResponseHead) throws -> Bool {
        guard !isDelivered, head.isHTTP else { throw URLError(.badServerResponse, failing: head.url) }
        isDelivered = true
        isRedirect = origin.isRedirect(head)
        let body = HTTPBodyStream(buffer) { [weak transfer] in transfer?.cancel() }
        promise.succeed(with: (isRedirect ? head.withoutLength() : head, body))
        return true
    }

    func receive(bytes: Data) throws {
        // Some engines deliver the body of a redirect, and others don't.
        if !isRedirect { try buffer.append(bytes) }
    }

    func report(_ progress: BodyProgress) {
        guard progress.direction == .sent else { return }
        if progress.completed < sentCount {
            sentCount = 0
            task?.tell(.bodyBegan())
        }
        task?.tell(.sent(progress.completed - sentCount, of: progress.total))
        sentCount = progress.completed
    }

    func noteActivity() { task?.tell(.activity) }

    func waitsForConnectivity() { task?.tell(.waiting) }

    func measured(_ metrics: URLClient.Metrics) { task?.tell(.measured(metrics)) }

    func decide(
        redirect head: ResponseHead,
        of task: any EngineTask,
        proposal: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        answer(nil)
    }

    func finish(_ result: Result<ResponseHead, any Error>) {
        var failure: (any Error)?
        if case .failure(let error) = result { failure = error }
        buffer.finish(failure)
        if !isDelivered { promise.fail(with: failure ?? URLError(.badServerResponse, failing: origin.request.url)) }
    }
}
