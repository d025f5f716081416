internal import DeferredNetworking
import Foundation

/// A parsed request line with its header fields (RFC 9112, sections 2 to 5).
struct RequestHead {
    let bytes: Data
    let method: String
    let target: String
    let version: String
    let headers: HTTPHeaders
    let framing: BodyFraming

    /// Parses the lines of a head, without line endings and without the final empty line.
    init(lines: [String], bytes: Data) throws(RequestError) {
        let parts = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw .malformed("The request line is not 'METHOD TARGET HTTP/1.1'.")
        }
        guard parts[2].hasPrefix("HTTP/1."), parts[2].count == 8, parts[2].last?.isNumber == true else {
            throw RequestError(status: 505, explanation: "The version is not HTTP/1.x.")
        }
        self.bytes = bytes
        method = parts[0]
        target = parts[1]
        version = parts[2]
        headers = try HTTPHeaders(lines.dropFirst().map(Self.field))
        framing = try BodyFraming(headers)
    }

    /// True if the connection is to be kept for another request (RFC 9112, section 9.3).
    var keepsConnection: Bool {
        let options = FieldList.members(of: headers.combined("Connection")?.lowercased() ?? "")
        return version == "HTTP/1.0" ? options.contains("keep-alive") : !options.contains("close")
    }

    /// True if the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        version != "HTTP/1.0" && headers["Expect"]?.lowercased() == "100-continue" && framing != .length(0)
    }

    static func field(_ line: String) throws(RequestError) -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(of: ":") else { throw .malformed("A header field has no colon.") }
        let name = line[..<colon]
        guard !name.isEmpty, !name.contains(where: \.isWhitespace) else {
            throw .malformed("A header field's name is empty or contains white space.")
        }
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return .init(name: String(name), value: value)
    }
}

/// The framing of a request's body, which tells where it ends (RFC 9112, section 6).
enum BodyFraming: Equatable {
    case length(Int)
    case chunked

    init(_ headers: HTTPHeaders) throws(RequestError) {
        let lengths = Set(headers.values(for: "Content-Length"))
        let codings = headers.values(for: "Transfer-Encoding")
        guard codings.isEmpty || lengths.isEmpty else {
            throw .malformed("Content-Length and Transfer-Encoding cannot be combined.")
        }
        if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw RequestError(status: 501, explanation: "The only supported transfer coding is chunked.")
            }
            self = .chunked
        } else if let length = lengths.first {
            guard lengths.count == 1, let count = HTTPNumber.parse(length).flatMap(Int.init(exactly:)) else {
                throw .malformed("Content-Length is not a single decimal number.")
            }
            self = .length(count)
        } else {
            self = .length(0)
        }
    }
}

/// A refusal of a malformed or unsupported request: the status of the answer, and the text of its body.
struct RequestError: Error {
    let status: Int
    let explanation: String

    static func malformed(_ explanation: String) -> RequestError {
        RequestError(status: 400, explanation: explanation)
    }
}
