/// Reads header fields whose values are lists: RFC 9110, section 5.6.1.
package enum FieldList {
    /// Returns the members of a list, without white space around them, and without empty ones. Commas in quoted strings
    /// separate nothing.
    package static func members(of value: some StringProtocol) -> [Substring] {
        var result: [Substring] = []
        forEachMember(of: value) { result.append($0) }
        return result
    }

    /// Calls `body` with each member of a list.
    package static func forEachMember(of value: some StringProtocol, _ body: (Substring) -> Void) {
        let text = Substring(value)
        let bytes = text.utf8
        var (start, isQuoted, isEscaped) = (bytes.startIndex, false, false)
        func end(_ end: Substring.Index) {
            let member = trimmed(text[start..<end])
            if !member.isEmpty { body(member) }
        }
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                end(index)
                start = bytes.index(after: index)
            }
        }
        end(bytes.endIndex)
    }

    /// Returns `text` without spaces and tabs at its ends.
    package static func trimmed(_ text: Substring) -> Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = text
        while let first = text.utf8.first, isBlank(first) { text = text[text.utf8.index(after: text.startIndex)...] }
        while let last = text.utf8.last, isBlank(last) { text = text[..<text.utf8.index(before: text.endIndex)] }
        return text
    }

    /// Reads the quoted string with which `rest` begins: RFC 9110, section 5.6.4; `nil` if it has no end.
    static func readQuoted(_ rest: inout Substring) -> String? {
        var result = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst() {
            if character == "\"" { return result }
            guard character == "\\" else { result.append(character); continue }
            if let escaped = rest.popFirst() { result.append(escaped) }
        }
        return nil
    }

    /// Returns a quoted string with this text.
    package static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension HTTPHeaders {
    /// The value of all fields with a name, joined as RFC 9110, section 5.3, does; `nil` if there is none.
    package func combined(_ name: String) -> String? {
        var result: String?
        for field in fields where field.isNamed(name) {
            if result == nil { result = field.value } else { result?.append(", " + field.value) }
        }
        return result
    }
}
