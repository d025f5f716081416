import Foundation

/// The reason why a response can't be parsed or decoded.
struct ResponseFlaw: Error {
    let description: String
}

/// Parses the heads of one response line by line, any interim heads and then the final one, and its trailers.
///
/// Strict where a lenient parser could see a different response (RFC 9112, sections 4 and 5), and bounded.
struct ResponseHeadParser {
    /// A line, or a part of one.
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The limit of libcurl, in the versions that have one.
    private static let largestHead = 300 << 10
    private static let mostLines = 10_000

    /// The fields of an ordinary head, for which memory is reserved at once.
    private static let usualFields = 16

    /// The version and the status of the head; nil before its first line.
    private var start: (version: String, status: HTTPStatus)?

    /// The fields of the head, and later those behind the body.
    private var headers = HTTPHeaders()

    /// The first thing that is wrong with these. That of an interim head doesn't matter.
    private var flaw: ResponseFlaw?

    /// The lines of the head, and later of the trailers, and their bytes without the terminators.
    private var lines = 0
    private var bytes = 0

    private let url: URL

    /// - Parameter url: The URL of the response.
    init(of url: URL) {
        self.url = url
    }

    /// True if the final head is complete.
    private(set) var isComplete = false

    /// True once a status line with the version 1.0 or 1.1 was received. Kept, since it is asked for at each line.
    private(set) var isInVersion1 = false

    /// Starts over with another response.
    mutating func reset() {
        self = ResponseHeadParser(of: url)
    }

    /// Adds a line, including its terminator.
    ///
    /// - Returns: the final head, or an interim one, with its last line.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(ResponseFlaw) -> ResponseHead? {
        let content = Self.withoutEnd(line.bindMemory(to: UInt8.self))
        if content.isEmpty {
            if lines > 0, !isComplete { return try endHead() }
            // The end of the trailers.
            if isComplete { return nil }
        }
        lines += 1
        bytes += content.count
        guard bytes <= Self.largestHead, lines <= Self.mostLines else {
            throw ResponseFlaw(
                description:
                    "The response \(isComplete ? "trailer" : "head") has more than \(Self.mostLines) lines or \(Self.largestHead) bytes"
            )
        }
        guard flaw == nil else { return nil }
        do throws(ResponseFlaw) {
            if lines > 1 || isComplete { try Self.append(content, to: &headers) } else { try begin(content) }
        } catch {
            flaw = error
        }
        return nil
    }

    /// Checks that the next line of a head doesn't continue a field if there is none.
    func check(_ line: UnsafeRawBufferPointer) throws(ResponseFlaw) {
        guard lines <= 1, let first = line.first, Self.isBlank(first) else { return }
        throw Self.folded(Self.withoutEnd(line.bindMemory(to: UInt8.self)))
    }

    private static func folded(_ line: Bytes) -> ResponseFlaw { flaw("begins with a folded line", line) }

    private static func withoutEnd(_ line: Bytes) -> Bytes {
        var count = line.count
        if count > 0, line[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, line[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return Bytes(rebasing: line[..<count])
    }

    private mutating func begin(_ line: Bytes) throws(ResponseFlaw) {
        let version = Self.text(Bytes(rebasing: line.prefix { $0 != UInt8(ascii: " ") }))
        start = (version, try Self.status(of: line, in: version))
        isInVersion1 = version != "HTTP/2"
        headers.fields.reserveCapacity(Self.usualFields)
    }

    /// Returns the head. Nil for an interim one that says nothing: a 100, or one that is malformed.
    private mutating func endHead() throws(ResponseFlaw) -> ResponseHead? {
        if let flaw, start?.status.isInterim != true { throw flaw }
        guard let (version, status) = start else { return nil }
        let head =
            flaw == nil && status != 100
            ? ResponseHead(url: url, version: version, status: status, headers: headers) : nil
        let isInVersion1 = isInVersion1
        reset()
        if !status.isInterim { (isComplete, self.isInVersion1) = (true, isInVersion1) }
        return head
    }

    /// The trailers that have come behind the body, without those that a recipient must not use.
    func trailers() throws(ResponseFlaw) -> HTTPHeaders {
        guard isComplete, lines > 0 else { return [:] }
        if let flaw { throw flaw }
        var result = headers
        result.fields.removeAll { !TrailerGrammar.allows($0.name) }
        return result
    }

    private static func status(of line: Bytes, in version: String) throws(ResponseFlaw) -> HTTPStatus {
        let digits = line.dropFirst(version.utf8.count + 1).prefix { $0 != UInt8(ascii: " ") }
        guard version == "HTTP/1.1" || version == "HTTP/1.0" || version == "HTTP/2", digits.count == 3,
            digits.allSatisfy(HTTPNumber.isDigit), !hasControls(line)
        else { throw ResponseFlaw(description: "The response's status line is malformed: \(quoted(line))") }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard status >= 100 else { throw ResponseFlaw(description: "The response has the invalid status \(status)") }
        return HTTPStatus(status)
    }

    private static func quoted(_ line: Bytes) -> String {
        let text = String(decoding: line.prefix(80), as: UTF8.self)
        guard let colon = text.firstIndex(of: ":"), Redaction.isSecret(String(text[..<colon])) else {
            return DisplayText.quoted(text)
        }
        return DisplayText.quoted(text[...colon] + " " + Redaction.mark)
    }

    private static func append(_ line: Bytes, to headers: inout HTTPHeaders) throws(ResponseFlaw) {
        guard !hasControls(line) else { throw flaw("has a line that contains NUL or CR", line) }
        if let first = line.first, isBlank(first) {
            // Obsolete folding: RFC 9112, section 5.2.
            guard let last = headers.fields.indices.last else { throw folded(line) }
            // libcurl frames the body by the first line alone.
            if headers.fields[last].isNamed("Transfer-Encoding") { throw flaw("folds Transfer-Encoding", line) }
            let folded = [headers.fields[last].value, text(trimmed(line))]
            headers.fields[last].value = folded.filter { !$0.isEmpty }.joined(separator: " ")
            return
        }
        guard let colon = index(of: UInt8(ascii: ":"), in: line) else { throw flaw("has a line without a colon", line) }
        let name = Bytes(rebasing: line[..<colon])
        guard !name.isEmpty, name.allSatisfy(isVisible) else { throw flaw("has a field with an invalid name", line) }
        let value = trimmed(Bytes(rebasing: line[(colon + 1)...]))
        headers.add(name: text(name), value: text(value, of: name))
    }

    /// Returns whether a line contains NUL or CR.
    private static func hasControls(_ line: Bytes) -> Bool {
        index(of: 0, in: line) != nil || index(of: UInt8(ascii: "\r"), in: line) != nil
    }

    /// Returns the first index of a byte, for which the C library looks at many at a time.
    private static func index(of byte: UInt8, in bytes: Bytes) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(start)
    }

    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func trimmed(_ bytes: Bytes) -> Bytes {
        var (start, end) = (0, bytes.count)
        while start < end, isBlank(bytes[start]) { start += 1 }
        while start < end, isBlank(bytes[end - 1]) { end -= 1 }
        return Bytes(rebasing: bytes[start..<end])
    }

    /// Decodes UTF-8 if it is valid, and otherwise ISO 8859-1, in which every byte is valid. A URL's bytes get their
    /// escapes instead, since the text couldn't tell them from those of UTF-8.
    private static func text(_ bytes: Bytes, of field: Bytes? = nil) -> String {
        // Nearly all texts are ASCII, and validation takes several times as long.
        if bytes.reduce(0, |) < 0x80 { return String(decoding: bytes, as: UTF8.self) }
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        guard let field, ["location", "content-location"].contains(text(field).lowercased()) else {
            return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        }
        return String(decoding: bytes.flatMap { $0 < 0x80 ? [$0] : PercentEncoding.escape($0) }, as: UTF8.self)
    }

    private static func flaw(_ what: String, _ line: Bytes) -> ResponseFlaw {
        ResponseFlaw(description: "The response head \(what): \(quoted(line))")
    }
}
