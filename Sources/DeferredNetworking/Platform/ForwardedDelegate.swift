import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A user's delegate that observes a task after the library's own delegate has taken its place.
///
/// On Darwin, where a delegate's methods are optional, the platform calls only one delegate for each task.
/// swift-corelibs-foundation never calls these methods.
struct ForwardedDelegate {
    let delegate: (any URLSessionTaskDelegate)?

    func isWaiting(_ task: URLSessionTask, in session: URLSession) {
        #if !canImport(FoundationNetworking)
        delegate?.urlSession?(session, taskIsWaitingForConnectivity: task)
        #endif
    }

    func finishedCollecting(_ metrics: URLSessionTaskMetrics, of task: URLSessionTask, in session: URLSession) {
        #if !canImport(FoundationNetworking)
        delegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
        #endif
    }

    func considerCaching(
        _ response: CachedURLResponse,
        of task: URLSessionDataTask,
        in session: URLSession,
        _ answer: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        #if !canImport(FoundationNetworking)
        if let delegate = delegate as? any URLSessionDataDelegate,
            let method = delegate.urlSession(_:dataTask:willCacheResponse:completionHandler:)
        {
            return method(session, task, response, answer)
        }
        #endif
        answer(response)
    }
}
