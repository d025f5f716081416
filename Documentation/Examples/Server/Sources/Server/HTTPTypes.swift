import Deferred
import Foundation
import HTTPTypes

// Both libraries have an HTTPRequest and an HTTPResponse. A file that imports both says which one it means.

extension DeferredHTTP.HTTPRequest {
    /// Creates a request from one of swift-http-types, which has no body.
    ///
    /// - Returns: `nil` if the request has no URL: it has no authority, or is a `CONNECT`.
    init?(_ request: HTTPTypes.HTTPRequest, body: HTTPBody = .empty) {
        guard let url = request.url else { return nil }
        self.init(
            HTTPMethod(rawValue: request.method.rawValue),
            url: url,
            headers: HTTPHeaders(request.headerFields),
            body: body
        )
    }

    /// The request as one of swift-http-types, without its body.
    ///
    /// - Throws: `URLClientError.invalidRequest` if it can't be sent.
    var httpTypes: HTTPTypes.HTTPRequest {
        get throws {
            let url = try check()
            // `check` lets only tokens pass as methods, and so does swift-http-types.
            let method = HTTPTypes.HTTPRequest.Method(method.rawValue) ?? .get
            return HTTPTypes.HTTPRequest(method: method, url: url, headerFields: HTTPFields(allHeaders))
        }
    }
}

extension DeferredHTTP.HTTPResponse {
    /// Creates a response to a request from one of swift-http-types.
    init(_ response: HTTPTypes.HTTPResponse, to request: DeferredHTTP.HTTPRequest, body: Data = Data()) {
        let headers = HTTPHeaders(response.headerFields)
        self.init(request: request, status: HTTPStatus(response.status.code), headers: headers, body: body)
    }

    /// The response as one of swift-http-types, without its body.
    var httpTypes: HTTPTypes.HTTPResponse {
        HTTPTypes.HTTPResponse(status: .init(code: status.code), headerFields: HTTPFields(headers))
    }
}

extension HTTPHeaders {
    init(_ fields: HTTPFields) { self.init(fields.map { .init(name: $0.name.rawName, value: $0.value) }) }
}

extension HTTPFields {
    /// Creates the fields, in order. Those whose names are no tokens are left out.
    init(_ headers: HTTPHeaders) {
        self.init(
            headers.compactMap { field in HTTPField.Name(field.name).map { .init(name: $0, value: field.value) } }
        )
    }
}
