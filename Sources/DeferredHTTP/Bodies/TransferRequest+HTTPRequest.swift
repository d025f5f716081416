import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension TransferRequest {
    /// What a `URLClient` sends for a request.
    ///
    /// - Throws: Why it can't be sent.
    init(_ request: HTTPRequest) throws(URLClientError) {
        var result = URLRequest(url: try request.check())
        result.httpMethod = request.method.rawValue
        for field in request.allHeaders {
            // Joined with commas where a name occurs twice; cookies have a separator of their own.
            if field.isNamed("Cookie"), let cookie = result.value(forHTTPHeaderField: field.name) {
                result.setValue(cookie + "; " + field.value, forHTTPHeaderField: field.name)
            } else {
                result.addValue(field.value, forHTTPHeaderField: field.name)
            }
        }
        if let timeout = request.timeout {
            result.timeoutInterval = timeout / .seconds(1)
        }
        let body = request.body
        if body.files.isEmpty {
            result.httpBody = body.isEmpty ? nil : body.pieces.reduce(into: Data()) { $0 += $1.bytes }
            self.init(result)
        } else if body.pieces.count == 1, let file = body.files.first {
            self.init(result, body: .file(file))
        } else {
            self.init(result, body: .stream { body.makeStream() })
        }
    }
}

extension HTTPBody.Piece {
    /// The bytes in memory.
    fileprivate var bytes: Data {
        if case .data(let data) = self { data } else { Data() }
    }
}
