public import DeferredNetworking
public import Foundation

extension HTTPRequest {
    /// Checks that the request can be sent, for a custom terminal loader.
    ///
    /// - Returns: The URL to send it to.
    /// - Throws: `URLClientError.invalidRequest` with the reason: the method or the name of a header is not a token,
    ///   the value of a header contains control characters, which could inject another field, the URL is invalid or has
    ///   no host, or a file of the body can't be read.
    public func check() throws(URLClientError) -> URL {
        try RequestGrammar.check(method: method.rawValue)
        for field in allHeaders.fields {
            try RequestGrammar.check(fieldNamed: field.name, value: field.value)
        }
        let url = try makeURL()
        for file in body.files where !FileManager.default.isReadableFile(atPath: file.path) {
            throw .invalidRequest(reason: "the file \(DisplayText.quoted(file.path)) of the body cannot be read")
        }
        return url
    }

    /// The headers, with the `Content-Type` of the body unless there is one.
    public var allHeaders: HTTPHeaders {
        guard let type = body.contentType, headers["Content-Type"] == nil else { return headers }
        return HTTPHeaders(headers.fields + [.init(name: "Content-Type", value: type)])
    }
}
