#if os(Linux)
internal import DeferredCore
import Foundation
import FoundationNetworking

extension LibcurlTask {
    /// Made only for a source that needs it: a task with weak references is slower to retain and to release.
    private var onReady: @Sendable () -> Void { { [weak self] in self?.proceed() } }

    /// Returns the source of the request's body, or nil for a request without one.
    func uploadSource() -> (any UploadSource)? {
        let (platformRequest, url) = (request.request, request.url)
        switch request.body {
        case .file(let file):
            let length = POSIXFile.lengthOfReadableRegularFile(at: file.path)
            return QueuedUploadSource(
                length: length,
                reopens: true,
                open: { StreamReader(FileStream(file, announced: length), of: url) },
                onReady: onReady
            )
        case .stream(let makeStream, let length):
            return QueuedUploadSource(
                length: length,
                reopens: true,
                open: { StreamReader(makeStream(), of: url) },
                onReady: onReady
            )
        case .streamed(let body, let locals):
            return locals.restore { StreamedUploadSource(body, onReady: onReady) }
        case .inRequest:
            if let stream = platformRequest.httpBodyStream {
                let once = OneStream(stream: stream)
                return QueuedUploadSource(
                    length: nil,
                    reopens: false,
                    open: { StreamReader(once.stream, of: url) },
                    onReady: onReady
                )
            }
            if let data = platformRequest.httpBody { return DataUploadSource(data) }
            // These methods announce an empty body explicitly: RFC 9110, section 8.6.
            return ["POST", "PUT", "PATCH"].contains(request.method) ? DataUploadSource(Data()) : nil
        }
    }
}

/// Passes a stream to the queue that reads it.
///
/// SAFETY: only that queue uses the stream.
private struct OneStream: @unchecked Sendable {
    let stream: InputStream
}
#endif
