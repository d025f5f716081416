#if os(Linux)
internal import DeferredCore
import Foundation
import FoundationNetworking

extension LibcurlTask {
    /// Returns the source of the request's body, or nil for a request without one.
    func uploadSource() -> (any UploadSource)? {
        switch request.body {
        case .file(let file):
            // One that is gone fails, since it has no first byte.
            let length = POSIXFile.lengthOfReadableRegularFile(at: file.path) ?? 1
            return source(StreamedBody(of: file, range: 0..<length))
        case .stream(let makeStream, let length):
            return source(of: length, makeStream)
        case .streamed(let body, let locals):
            return locals.restore { source(body) }
        case .inRequest:
            if let stream = request.request.httpBodyStream {
                // SAFETY: only the queue that reads the stream uses it.
                nonisolated(unsafe) let once = stream
                return source(of: nil, alreadySent: BodyStreams.spent) { once }
            }
            if let data = request.request.httpBody { return DataUploadSource(data) }
            // These methods announce an empty body explicitly: RFC 9110, section 8.6.
            return ["POST", "PUT", "PATCH"].contains(request.method) ? DataUploadSource(Data()) : nil
        }
    }

    /// - Parameter alreadySent: The error of a second stream, if there is only one.
    private func source(
        of length: Int64?,
        alreadySent: (any Error)? = nil,
        _ make: @escaping @Sendable () -> InputStream
    ) -> StreamedUploadSource {
        let url = request.url
        let body = StreamedBody(length: length, isSpooled: false, alreadySent: alreadySent) {
            HTTPBodyStream(QueuedBytes { try BodyStreams.open(make(), of: url) })
        }
        return source(body)
    }

    private func source(_ body: StreamedBody) -> StreamedUploadSource {
        // Made only for a source that needs it: a task with weak references is slower to retain and to release.
        StreamedUploadSource(body) { [weak self] in self?.proceed() }
    }
}
#endif
