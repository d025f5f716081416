import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension CheckedRequest {
    /// Checks that the body can be sent with the method, can be read, and is as long as the request says.
    static func checkBody(_ body: Body, of request: inout URLRequest) throws(URLClientError) {
        let method = request.httpMethod ?? "GET"
        if request.httpBody?.isEmpty == true, isBodiless(method) {
            request.httpBody = nil
        }
        let length = try length(of: body, in: request)
        if length != 0, isBodiless(method) {
            throw .invalidRequest(
                reason: "the method \(DisplayText.quoted(method)) cannot carry a body; "
                    + "use POST, or remove the body"
            )
        }
        guard let claim = request.value(forHTTPHeaderField: "Content-Length") else { return }
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
        ["GET", "HEAD"].contains(method.uppercased())
    }

    /// The body's length in bytes, or nil for a stream.
    private static func length(of body: Body, in request: URLRequest) throws(URLClientError) -> Int64? {
        switch body {
        case .inRequest: request.httpBodyStream == nil ? Int64(request.httpBody?.count ?? 0) : nil
        case .stream: nil
        case .file(let file): try fileLength(of: file)
        }
    }

    private static func fileLength(of file: URL) throws(URLClientError) -> Int64 {
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
