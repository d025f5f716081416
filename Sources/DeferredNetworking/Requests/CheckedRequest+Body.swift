import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// MARK: The body

extension CheckedRequest {
    /// Checks that the body can be sent with the method, can be read, and is as long as the request says.
    ///
    /// - Parameter claim: The length that the request says itself, if it does.
    static func checkBody(
        _ body: Body,
        of request: inout URLRequest,
        claimed claim: String?
    ) throws(URLClientError) {
        let method = request.httpMethod ?? "GET"
        if case .streamed(let body, _) = body { try body.check() }
        if request.httpBody?.isEmpty == true, isBodiless(method) {
            request.httpBody = nil
        }
        let length = try length(of: body, in: request)
        if let length, length < 0 {
            throw .invalidRequest(
                reason: "the announced length of its body is \(length); announce the right one, or none"
            )
        }
        if length != 0, isBodiless(method) {
            throw .invalidRequest(
                reason: "the method \(DisplayText.quoted(method)) cannot carry a body; "
                    + "use POST, or remove the body"
            )
        }
        guard let claim else { return }
        guard let claimed = HTTPNumber.parse(claim) else {
            throw .invalidRequest(
                reason: "the header Content-Length: \(DisplayText.quoted(claim)) is not a number; leave it out"
            )
        }
        guard length != nil || StreamedLengths.areHonoured else {
            throw .invalidRequest(
                reason: "the header Content-Length: \(claimed) cannot be sent with a stream, which goes out in chunks; "
                    + "leave it out, or send data or a file"
            )
        }
        if let length, length != claimed {
            throw .invalidRequest(
                reason: "the header Content-Length: \(claimed) contradicts the body of \(length) bytes; leave it out"
            )
        }
    }

    private static func isBodiless(_ method: String) -> Bool {
        method == "GET" || ["GET", "HEAD"].contains(method.uppercased())
    }

    /// Returns the length of the body in bytes, or nil for a stream.
    private static func length(of body: Body, in request: URLRequest) throws(URLClientError) -> Int64? {
        switch body {
        case .inRequest: request.httpBodyStream == nil ? Int64(request.httpBody?.count ?? 0) : nil
        case .stream(_, let length): length
        case .streamed(let body, _): body.length
        case .file(let file): try fileLength(of: file)
        }
    }

    static func fileLength(of file: URL) throws(URLClientError) -> Int64 {
        guard file.isFileURL else {
            throw .invalidRequest(reason: "the body \(DisplayText.quoted(file)) is not a file URL")
        }
        guard let length = POSIXFile.lengthOfReadableRegularFile(at: file.path) else {
            throw .invalidRequest(
                reason: "the body \(DisplayText.quoted(file.path)) is not a regular file that can be read"
            )
        }
        return length
    }
}
