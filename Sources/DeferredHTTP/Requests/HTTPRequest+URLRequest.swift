import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPRequest {
    /// Returns the request in the form in which a `URLClient` sends it.
    ///
    /// - Parameter body: Sent instead of the request's own.
    /// - Throws: The reason for which the request can't be sent.
    func makeURLRequest(body: HTTPBody) throws(URLClientError) -> (URLRequest, CheckedRequest.Body) {
        var result = URLRequest(url: try check())
        result.httpMethod = method.rawValue
        for field in allHeaders {
            // Fields with the same name are joined with commas; cookies have their own separator.
            if field.isNamed("Cookie"), let cookie = result.value(forHTTPHeaderField: field.name) {
                result.setValue(cookie + "; " + field.value, forHTTPHeaderField: field.name)
            } else {
                result.addValue(field.value, forHTTPHeaderField: field.name)
            }
        }
        if body.files.isEmpty {
            result.httpBody = body.isEmpty ? nil : body.pieces.reduce(into: Data()) { $0 += $1.bytes }
            return (result, .inRequest)
        } else if body.pieces.count == 1, let file = body.files.first {
            return (result, .file(file))
        } else {
            return (result, .stream { [body] in body.makeStream() })
        }
    }
}

extension HTTPBody.Piece {
    /// The bytes in memory.
    fileprivate var bytes: Data {
        if case .data(let data) = self { data } else { Data() }
    }
}
