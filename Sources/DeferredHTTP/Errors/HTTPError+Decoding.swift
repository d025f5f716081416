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
