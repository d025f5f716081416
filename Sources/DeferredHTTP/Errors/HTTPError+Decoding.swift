import DeferredNetworking
import Foundation

extension HTTPError {
    /// Describes a failure to decode: the place in the body, what was expected there and what was found.
    static func text(of error: DecodingError, in response: HTTPResponse?) -> String {
        switch error {
        case .keyNotFound(let key, let context):
            "there is no \(DisplayText.quoted(key.stringValue)) in \(place(context.codingPath))"
        case .valueNotFound(let type, let context):
            "\(place(context.codingPath)) is null instead of \(type)"
        case .typeMismatch(let type, let context):
            "\(place(context.codingPath)) is \(found(context, in: response)) instead of \(type)"
        case .dataCorrupted(let context):
            "\(place(context.codingPath)) is \(found(context, in: response)): "
                + DisplayText.line(DisplayText.shortened(Redaction.text(context.debugDescription)))
        @unknown default:
            String(reflecting: type(of: error))
        }
    }

    /// Returns a path such as `users[2].name`.
    private static func place(_ path: [any CodingKey]) -> String {
        let text = path.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return text.isEmpty ? "the body" : DisplayText.line(DisplayText.shortened(text))
    }

    /// Describes the value at the place of a failure.
    private static func found(_ context: DecodingError.Context, in response: HTTPResponse?) -> String {
        guard let response, !response.body.isEmpty else { return "empty" }
        guard var value = try? JSONSerialization.jsonObject(with: response.body, options: .fragmentsAllowed) else {
            return "not JSON"
        }
        for key in context.codingPath {
            let next: Any? =
                if let index = key.intValue {
                    (value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil }
                } else {
                    (value as? [String: Any])?[key.stringValue]
                }
            guard let next else { return "something else" }
            value = next
        }
        if context.codingPath.contains(where: { Redaction.isSecret($0.stringValue) }) { return Redaction.mark }
        return switch value {
        case is [Any]: "an array"
        case is [String: Any]: "an object"
        case let text as String: DisplayText.quoted(text)
        case is NSNull: "null"
        default: DisplayText.line("\(value)")
        }
    }
}

extension Redaction {
    /// Returns a text without what follows the names of likely credentials, and without users in URLs.
    package static func text(_ text: String) -> String {
        let scheme = /(?i)(bearer|basic|token)\s+/
        let ends = Set<Character>(" \t\r\n&,;\"'<>)}]")
        var result = ""
        var rest = text[...]
        // From delimiter to delimiter: a search for names would begin at each character of a long one.
        while let delimiter = rest.firstIndex(where: { $0 == "=" || $0 == ":" }) {
            let name = Self.name(before: rest[..<delimiter])
            var value = rest[rest.index(after: delimiter)...]
            if !name.isEmpty {
                value = value.drop(while: \.isWhitespace)
                if value.first == "\"" || value.first == "'" { value = value.dropFirst() }
            }
            result += rest[..<value.startIndex]
            rest = value
            guard !name.isEmpty, isSecret(String(name)) else { continue }
            if let match = rest.prefixMatch(of: scheme) { rest = rest[match.range.upperBound...] }
            rest = rest.drop { !ends.contains($0) }
            result += mark
        }
        return (result + rest)
            .replacing(/(?i)(bearer|basic)\s+[^\s,;"']+/) { "\($0.1) \(mark)" }
            .replacing(/:\/\/[^\/\s@]*@/) { _ in "://\(mark)@" }
    }

    /// Returns the name at the end of a text, before white space and a quotation mark; empty for none.
    private static func name(before text: Substring) -> Substring {
        var text = text
        while text.last?.isWhitespace == true { text = text.dropLast() }
        if text.last == "\"" || text.last == "'" { text = text.dropLast() }
        let other = text.lastIndex { !($0.asciiValue.map(nameBytes.contains) ?? false) }
        return text[(other.map(text.index(after:)) ?? text.startIndex)...]
    }

    private static let nameBytes = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
}
