import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Begins downloads, all on one session.
struct DownloadStarter: Sendable {
    private let engine: URLSessionEngine

    /// - Parameter maximum: How many connections to one host there may be.
    init(maximum: Int) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = maximum
        // Without a byte for so long, the server has stopped answering.
        configuration.timeoutIntervalForRequest = 30
        engine = URLSessionEngine(copying: configuration)
    }

    /// Downloads a file, or what is missing of it. The counter learns of each step.
    func begin(_ job: DownloadJob, counting counter: ByteCounter) -> Task<(URL, URLResponse)> {
        guard !job.isDestinationDirectory else { return .failure(DownloadFailure.destinationIsDirectory(job)) }
        let request: CheckedRequest
        do {
            request = try CheckedRequest(URLRequest(url: job.url))
        } catch {
            return .failure(error)
        }
        counter.beginAttempt()
        let promise = Task<(URL, URLResponse)>.Promise()
        let download = Download(
            request,
            to: job.destination,
            resuming: true,
            onProgress: { counter.report(received: $0.completed, expected: $0.total) },
            start: { [engine] in Transfer($0, on: EngineLease(engine), sink: $1) },
            completion: { promise.fill(with: $0) }
        )
        return Task(promise, uponCancel: { _ in download.cancel() })
    }
}
