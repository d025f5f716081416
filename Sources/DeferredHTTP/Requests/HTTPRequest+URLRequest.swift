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
        let url = CheckedRequest.withLowercaseScheme(try check())
        var result = URLRequest(url: url)
        // It is the default, and setting it costs more than all other checks.
        if method != .get { result.httpMethod = method.rawValue }
        result.allHTTPHeaderFields = allHeaders.joined
        var sent = CheckedRequest.Body.inRequest
        if let source = body.source {
            sent = .streamed(source, TaskLocals(ofRunningCode: ()))
        } else if let bytes = body.bytesInMemory {
            result.httpBody = body.isEmpty ? nil : bytes
        } else if body.pieces.count == 1, let file = body.files.first {
            sent = .file(file)
        } else {
            sent = .stream({ [body] in body.makeStream() }, length: body.length)
        }
        return try CheckedRequest(wellFormed: result, to: url, body: sent)
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
