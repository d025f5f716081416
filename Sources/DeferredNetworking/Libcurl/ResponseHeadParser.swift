import Foundation

/// Parses the heads of one response line by line, any interim heads and then the final one, and its trailers.
///
/// Strict where a lenient parser could see a different response (RFC 9112, sections 4 and 5), and bounded.
struct ResponseHeadParser {
    /// The reason why a response can't be parsed.
    struct Flaw: Error {
        let description: String
    }

    /// A line, or a part of one, within the lines that are kept.
    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private enum State {
        case statusLine
        case fields
        case body
    }

    /// The limit of libcurl, in the versions that have one.
    private static let largestHead = 300 << 10
    private static let mostLines = 10_000

    /// The bytes and lines of an ordinary head, for which memory is reserved at once.
    private static let usualSize = 512
    private static let usualLines = 16

    private var state = State.statusLine

    /// The lines of the head, and later of the trailers, without their terminators, and the end offset of each.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private let url: URL

    /// - Parameter url: The URL of the response.
    init(of url: URL) {
        self.url = url
    }

    /// True if the final head is complete.
    var isComplete: Bool {
        if case .body = state { true } else { false }
    }

    /// True once a status line with the version 1.0 or 1.1 was received. Kept, since it is asked for at each line.
    private(set) var isInVersion1 = false

    /// Starts over with another response, and keeps the memory.
    mutating func reset() {
        state = .statusLine
        isInVersion1 = false
        removeLines()
    }

    private mutating func removeLines() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Adds a line, including its terminator.
    ///
    /// - Returns: the final head, or an interim one, with its last line.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(Flaw) -> ResponseHead? {
        let content = Self.withoutEnd(line)
        if content.isEmpty {
            if case .fields = state { return try endHead() }
            // The end of the trailers.
            if isComplete { return nil }
        }
        guard bytes.count + content.count <= Self.largestHead, ends.count < Self.mostLines else {
            throw Flaw(
                description:
                    "The response \(isComplete ? "trailer" : "head") has more than \(Self.mostLines) lines or \(Self.largestHead) bytes"
            )
        }
        if ends.isEmpty, !isComplete {
            bytes.reserveCapacity(Self.usualSize)
            ends.reserveCapacity(Self.usualLines)
            isInVersion1 = content.starts(with: "HTTP/1.".utf8)
        }
        bytes.append(contentsOf: content)
        ends.append(bytes.count)
        if !isComplete { state = .fields }
        return nil
    }

    private static func withoutEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var count = line.count
        if count > 0, line[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, line[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<count])
    }

    private mutating func endHead() throws(Flaw) -> ResponseHead? {
        let (ends, url) = (ends, url)
        let head = try bytes.withUnsafeBufferPointer { bytes throws(Flaw) in try Self.head(bytes, ends, of: url) }
        if let head, !head.status.isInterim {
            state = .body
            removeLines()
        } else {
            reset()
        }
        return head
    }

    /// Returns the head with these lines. Nil for an interim one that says nothing: a 100, or one that is malformed.
    private static func head(_ bytes: Bytes, _ ends: [Int], of url: URL) throws(Flaw) -> ResponseHead? {
        let (version, code) = try statusLine(Bytes(rebasing: bytes[..<(ends.first ?? 0)]))
        let status = HTTPStatus(code)
        do throws(Flaw) {
            let headers = try fields(bytes, ends, after: 1)
            return status == 100 ? nil : ResponseHead(url: url, version: version, status: status, headers: headers)
        } catch {
            guard status.isInterim else { throw error }
            return nil
        }
    }

    /// The trailers that have come behind the body, without those that a recipient must not use.
    func trailers() throws(Flaw) -> HTTPHeaders {
        guard isComplete, !ends.isEmpty else { return [:] }
        var result = try bytes.withUnsafeBufferPointer { bytes throws(Flaw) in try Self.fields(bytes, ends, after: 0) }
        result.fields.removeAll { !TrailerGrammar.allows($0.name) }
        return result
    }

    private static func fields(_ bytes: Bytes, _ ends: [Int], after count: Int) throws(Flaw) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.fields.reserveCapacity(ends.count - count)
        var start = count > 0 ? ends[count - 1] : 0
        for end in ends[count...] {
            try append(Bytes(rebasing: bytes[start..<end]), to: &headers)
            start = end
        }
        return headers
    }

    private static func statusLine(_ line: Bytes) throws(Flaw) -> (version: String, status: Int) {
        let space = UInt8(ascii: " ")
        let end = line.firstIndex(of: space) ?? line.count
        let version = ["HTTP/1.1", "HTTP/1.0", "HTTP/2"].first { line[..<end].elementsEqual($0.utf8) }
        let digits = line.dropFirst(end + 1).prefix { $0 != space }
        guard let version, digits.count == 3, digits.allSatisfy(HTTPNumber.isDigit), !hasControls(line)
        else { throw Flaw(description: "The response's status line is malformed: \(quoted(line))") }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard status >= 100 else { throw Flaw(description: "The response has the invalid status \(status)") }
        return (version, status)
    }

    private static func quoted(_ line: Bytes) -> String {
        DisplayText.quoted(String(decoding: line.prefix(80), as: UTF8.self))
    }

    private static func append(_ line: Bytes, to headers: inout HTTPHeaders) throws(Flaw) {
        guard !hasControls(line) else { throw flaw("has a line that contains NUL or CR", line) }
        if let first = line.first, isBlank(first) {
            // Obsolete folding: RFC 9112, section 5.2.
            guard let last = headers.fields.indices.last else { throw flaw("begins with a folded line", line) }
            // libcurl frames the body by the first line alone.
            if headers.fields[last].isNamed("Transfer-Encoding") { throw flaw("folds Transfer-Encoding", line) }
            let folded = [headers.fields[last].value, text(trimmed(line))]
            headers.fields[last].value = folded.filter { !$0.isEmpty }.joined(separator: " ")
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw flaw("has a line without a colon", line) }
        let name = Bytes(rebasing: line[..<colon])
        guard !name.isEmpty, name.allSatisfy(isVisible) else { throw flaw("has a field with an invalid name", line) }
        let value = trimmed(Bytes(rebasing: line[(colon + 1)...]))
        headers.add(name: text(name), value: text(value, of: name))
    }

    /// Returns whether a line contains NUL or CR.
    private static func hasControls(_ line: Bytes) -> Bool { line.contains { $0 == 0 || $0 == UInt8(ascii: "\r") } }

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

    private static func flaw(_ what: String, _ line: Bytes) -> Flaw {
        Flaw(description: "The response head \(what): \(quoted(line))")
    }
}
