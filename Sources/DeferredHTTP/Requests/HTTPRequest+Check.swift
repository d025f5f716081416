public import DeferredNetworking
public import Foundation

extension HTTPRequest {
    /// Checks that the request can be sent, for a terminal loader of one's own.
    ///
    /// - Returns: The URL to send it to.
    /// - Throws: `URLClientError.invalidRequest` with what is wrong: the method or the name of a header is no token, the
    ///   value of a header contains control characters, which could smuggle in another field, the URL has no host or is
    ///   none, or a file of the body can't be read.
    public func check() throws(URLClientError) -> URL {
        guard HTTPToken.isValid(method.rawValue) else {
            throw .invalidRequest(reason: "the method \(VisibleText.quoted(method.rawValue)) is not a token")
        }
        for field in allHeaders {
            try field.check()
        }
        let url = try parts.makeURL()
        for file in body.files where !FileManager.default.isReadableFile(atPath: file.path) {
            throw .invalidRequest(reason: "the file \(VisibleText.quoted(file.path)) of the body cannot be read")
        }
        return url
    }

    /// The headers, with the `Content-Type` of the body unless there is one.
    public var allHeaders: HTTPHeaders {
        guard let type = body.contentType, headers["Content-Type"] == nil else { return headers }
        return HTTPHeaders(headers.fields + [.init(name: "Content-Type", value: type)])
    }
}

extension HTTPHeaders.Field {
    /// Checks that this is one field, and not more.
    func check() throws(URLClientError) {
        guard HTTPToken.isValid(name) else {
            throw .invalidRequest(
                reason: "the header name \(VisibleText.quoted(name)) is not a token; use letters, digits and hyphens"
            )
        }
        // The value may be a secret, so only its name is told.
        guard !value.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F }) else {
            throw .invalidRequest(
                reason: "the value of the header \(name) contains control characters, such as a line break; remove them"
            )
        }
    }
}
