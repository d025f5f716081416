import DeferredCore
import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension HTTPRequest {
    /// Returns the request in the form in which a `URLClient` sends it, checked once for all.
    ///
    /// - Throws: The reason for which the request can't be sent.
    func checked() throws(URLClientError) -> CheckedRequest {
        if let scheme, scheme != "https", scheme != "http", scheme != scheme.lowercased() {
            var request = self
            request.scheme = scheme.lowercased()
            return try request.checked()
        }
        var result = URLRequest(url: try check())
        // It is the default, and setting it costs more than all other checks.
        if method != .get { result.httpMethod = method.rawValue }
        result.allHTTPHeaderFields = allHeaders.joined
        if let source = body.source {
            return try CheckedRequest(wellFormed: result, body: .streamed(source, TaskLocals(ofRunningCode: ())))
        } else if let bytes = body.bytesInMemory {
            result.httpBody = body.isEmpty ? nil : bytes
            return try CheckedRequest(wellFormed: result)
        } else if body.pieces.count == 1, let file = body.files.first {
            return try CheckedRequest(wellFormed: result, body: .file(file))
        } else {
            return try CheckedRequest(
                wellFormed: result,
                body: .stream({ [body] in body.makeStream() }, length: body.length)
            )
        }
    }
}

extension HTTPHeaders {
    /// The values by name, as a `URLRequest` takes them. Where a name occurs twice, they are joined with commas; cookies
    /// have a separator of their own.
    fileprivate var joined: [String: String] {
        var result = [String: String](minimumCapacity: fields.count)
        for (index, field) in fields.enumerated() {
            // Spelled as where it occurs first.
            let name = fields[..<index].first { $0.isNamed(field.name) }?.name ?? field.name
            let separator = field.isNamed("Cookie") ? "; " : ","
            result[name] = result[name].map { $0 + separator + field.value } ?? field.value
        }
        return result
    }
}
