import Foundation

/// Parses the heads of one response line by line: any interim heads, then the final one.
///
/// Strict where a lenient parser could see a different response (RFC 9112, sections 4 and 5), and bounded. Lines after
/// the final head are trailers, and are ignored.
struct ResponseHeadParser {
    /// The reason why a response can't be parsed.
    struct Flaw: Error {
        let description: String
    }

    struct Head: Equatable {
        struct Field: Equatable {
            let name: String
            var value: String
        }

        /// The HTTP version, "HTTP/1.1", "HTTP/1.0" or "HTTP/2".
        let version: String
        let status: Int

        /// The fields, one per name, ignoring case; repeated values are combined according to RFC 9110, section 5.3.
        let fields: [Field]

        /// The values of the `Set-Cookie` lines, which can't be combined.
        let cookies: [String]

        /// Returns the value of the field with this name, ignoring case.
        func value(of name: String) -> String? {
            fields.first { Fields.areEqual($0.name, name) }?.value
        }
    }

    private enum State {
        case statusLine
        case fields
        case body
    }

    /// The limit of libcurl, in the versions that have one.
    private static let largestHead = 300 << 10
    private static let mostLines = 10_000

    private var state = State.statusLine

    /// The lines of the head, without their terminators, and the end offset of each.
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    /// True if the final head is complete.
    var isComplete: Bool {
        if case .body = state { true } else { false }
    }

    /// Starts over with another response, and keeps the memory.
    mutating func reset() {
        state = .statusLine
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Adds a line, including its terminator.
    ///
    /// - Returns: the final head, with its last line.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(Flaw) -> Head? {
        if case .body = state { return nil }
        let content = Self.withoutEnd(line)
        if content.isEmpty, case .fields = state { return try endHead() }
        guard bytes.count + content.count <= Self.largestHead, ends.count < Self.mostLines else {
            throw Flaw(
                description: "The response head has more than \(Self.mostLines) lines or \(Self.largestHead) bytes"
            )
        }
        bytes.append(contentsOf: content)
        ends.append(bytes.count)
        state = .fields
        return nil
    }

    private static func withoutEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var count = line.count
        if count > 0, line[count - 1] == UInt8(ascii: "\n") { count -= 1 }
        if count > 0, line[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<count])
    }

    private mutating func endHead() throws(Flaw) -> Head? {
        let (version, status) = try Self.statusLine(bytes[..<(ends.first ?? 0)])
        // A 101 is followed by a body.
        guard status >= 200 || status == 101 else {
            reset()
            return nil
        }
        state = .body
        var fields = Fields()
        for index in ends.indices.dropFirst() {
            try fields.append(bytes[ends[index - 1]..<ends[index]])
        }
        return Head(version: version, status: status, fields: fields.list, cookies: fields.cookies)
    }

    private static func statusLine(_ line: ArraySlice<UInt8>) throws(Flaw) -> (version: String, status: Int) {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        let versions = ["HTTP/1.1", "HTTP/1.0", "HTTP/2"]
        guard parts.count >= 2, let version = versions.first(where: { parts[0].elementsEqual($0.utf8) }),
            parts[1].count == 3, parts[1].allSatisfy({ (0x30...0x39).contains($0) }), !line.contains(0),
            !line.contains(UInt8(ascii: "\r"))
        else { throw Flaw(description: "The response's status line is malformed: \(quoted(line))") }
        let status = parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard status >= 100 else { throw Flaw(description: "The response has the invalid status \(status)") }
        return (version, status)
    }

    fileprivate static func quoted(_ line: ArraySlice<UInt8>) -> String {
        DisplayText.quoted(String(decoding: line.prefix(80), as: UTF8.self))
    }
}

/// Combines fields with the same name.
private struct Fields {
    private(set) var list: [ResponseHeadParser.Head.Field] = []
    private(set) var cookies: [String] = []

    /// An index of `list` by name, created when there are many fields: linear searches would take quadratic time.
    private var places: [String: Int]?
    private static let many = 32

    /// The index of the field that a folded line continues.
    private var last: Int?

    mutating func append(_ line: ArraySlice<UInt8>) throws(ResponseHeadParser.Flaw) {
        guard !line.contains(0), !line.contains(UInt8(ascii: "\r")) else {
            throw flaw("has a line that contains NUL or CR", line)
        }
        if let first = line.first, Self.isBlank(first) {
            // Obsolete folding: RFC 9112, section 5.2.
            guard let last else { throw flaw("begins with a folded line", line) }
            list[last].value += " " + Self.text(Self.trimmed(line))
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw flaw("has a line without a colon", line) }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(Self.isVisible) else {
            throw flaw("has a field with an invalid name", line)
        }
        add(Self.text(name), Self.text(Self.trimmed(line[(colon + 1)...])))
    }

    private mutating func add(_ name: String, _ value: String) {
        if Self.areEqual(name, "Set-Cookie") { cookies.append(value) }
        if let place = place(of: name) {
            list[place].value += ", " + value
            last = place
        } else {
            places?[name.lowercased()] = list.count
            last = list.count
            list.append(.init(name: name, value: value))
        }
    }

    private mutating func place(of name: String) -> Int? {
        if list.count < Self.many { return list.firstIndex { Self.areEqual($0.name, name) } }
        if places == nil {
            places = Dictionary(uniqueKeysWithValues: list.indices.map { (list[$0].name.lowercased(), $0) })
        }
        return places?[name.lowercased()]
    }

    /// Returns true if two names are equal, ignoring ASCII case.
    fileprivate static func areEqual(_ one: String, _ other: String) -> Bool {
        one.utf8.count == other.utf8.count && zip(one.utf8, other.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var result = bytes
        while let first = result.first, isBlank(first) { result.removeFirst() }
        while let last = result.last, isBlank(last) { result.removeLast() }
        return result
    }

    /// Decodes UTF-8 if it is valid, and otherwise ISO 8859-1, in which every byte is valid.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        // Nearly all texts are ASCII, and validation takes several times as long.
        let isASCII = bytes.withUnsafeBufferPointer { $0.reduce(0, |) < 0x80 }
        if isASCII { return bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private func flaw(_ what: String, _ line: ArraySlice<UInt8>) -> ResponseHeadParser.Flaw {
        ResponseHeadParser.Flaw(description: "The response head \(what): \(ResponseHeadParser.quoted(line))")
    }
}
