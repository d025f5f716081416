import AsyncHTTPClient
import Deferred
import Foundation
import NIOCore
import NIOFoundationCompat

extension HTTPClientRequest {
    /// Creates what async-http-client sends for a request.
    ///
    /// - Parameters:
    ///   - request: Checked here.
    ///   - stream: Its body, if that is streamed.
    ///   - onProgress: Told how many bytes of the body were read so far, but for bytes in memory.
    /// - Throws: The reason for which it can't be sent.
    init(_ request: HTTPRequest, _ stream: HTTPBodyStream?, onProgress: @escaping @Sendable (Int64) -> Void) throws {
        self.init(url: try request.check().absoluteString)
        method = .init(rawValue: request.method.rawValue)
        for field in request.allHeaders { headers.add(name: field.name, value: field.value) }
        let length = request.body.length.map { Body.Length.known($0) } ?? .unknown
        if let stream {
            body = .stream(RequestBytes(source: .stream(stream), onProgress: onProgress), length: length)
        } else if request.body.pieces.count == 1, case .data(let data) = request.body.pieces[0] {
            // What is in memory can be sent again after a redirect.
            body = .bytes(ByteBuffer(data: data))
        } else if !request.body.isEmpty {
            let reader = PieceReader(request.body.makeStream())
            body = .stream(RequestBytes(source: .pieces(reader), onProgress: onProgress), length: length)
        }
    }
}
