import AsyncHTTPClient
import Deferred
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOPosix

/// A terminal loader over async-http-client, for services that need more than URLSession on Linux provides. The rest of
/// a chain stays as it is: `Retry() --> Throttle(maximum: 256) --> AsyncHTTPClientLoader(client: .shared)`.
struct AsyncHTTPClientLoader: HTTPLoader {
    let client: HTTPClient

    func load(_ task: HTTPTask) {
        if task.failIfCancelled() { return }
        let timeout = task.request.timeout.map { TimeAmount.nanoseconds(Int64($0 / .nanoseconds(1))) } ?? .seconds(60)
        let transfer = Task {
            do {
                let response = try await client.execute(Self.request(task.request), timeout: timeout)
                let body = Data(buffer: try await response.body.collect(upTo: 64 << 20))
                let status = HTTPStatus(Int(response.status.code))
                task.succeed(status, headers: .init(response.headers.map { .init(name: $0, value: $1) }), body: body)
            } catch {
                task.fail(Self.code(error), underlying: error)
            }
        }
        task.addCancellationHandler { transfer.cancel() }
    }

    private static func request(_ request: HTTPRequest) throws -> HTTPClientRequest {
        var result = HTTPClientRequest(url: try request.check().absoluteString)
        result.method = .init(rawValue: request.method.rawValue)
        for field in request.allHeaders { result.headers.add(name: field.name, value: field.value) }
        guard !request.body.isEmpty else { return result }
        // SAFETY: read by one consumer, chunk after chunk.
        nonisolated(unsafe) let stream = request.body.makeStream()
        stream.open()
        let chunks = AsyncThrowingStream(unfolding: { () -> ByteBuffer? in
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = stream.read(&chunk, maxLength: chunk.count)
            guard count <= 0 else { return ByteBuffer(bytes: chunk[..<count]) }
            defer { stream.close() }
            if count < 0 { throw stream.streamError ?? CocoaError(.fileReadUnknown) }
            return nil
        })
        result.body = .stream(chunks, length: request.body.length.map { .known($0) } ?? .unknown)
        return result
    }

    private static func code(_ error: any Error) -> HTTPError.Code {
        let known = error as? HTTPClientError
        if error is URLClientError { return .invalidRequest }
        if error is CancellationError || known == .cancelled { return .cancelled }
        if [.deadlineExceeded, .readTimeout, .connectTimeout].contains(known) { return .timedOut }
        if error is IOError || known == .remoteConnectionClosed { return .connectionLost }
        return error is NIOConnectionError ? .cannotConnect : .unknown
    }
}
