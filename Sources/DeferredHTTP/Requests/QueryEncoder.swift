internal import DeferredNetworking
public import Foundation

extension HTTPRequest {
    /// Adds the properties of a value to the query, each as an item.
    ///
    /// ```swift
    /// struct Search: Encodable { var q: String, page: Int?, labels: [String] }
    /// try request.addQuery(Search(q: "a b", page: nil, labels: ["x", "y"]))  // q=a%20b&labels=x&labels=y
    /// ```
    ///
    /// Numbers and Booleans are written as in JSON, dates and data as `encoder` writes them. `nil` is left out, and each
    /// element of an array is an item of its own. The items are sorted by name.
    ///
    /// - Parameters:
    ///   - value: A value with named properties.
    ///   - encoder: Encodes the value, with its strategies for keys, dates and data.
    /// - Throws: The encoder's `EncodingError`, also for an object within an object.
    public mutating func addQuery(_ value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws {
        for item in try FormItems.items(of: value, using: encoder) {
            addQueryItem(name: item.name, value: item.value)
        }
    }
}

extension HTTPBody {
    /// Creates a body from the properties of a value, as `application/x-www-form-urlencoded`.
    ///
    /// The fields are those of ``HTTPRequest/addQuery(_:using:)``.
    ///
    /// - Throws: The encoder's `EncodingError`, also for an object within an object.
    public static func form(encoding value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws
        -> HTTPBody
    {
        form(try FormItems.items(of: value, using: encoder))
    }
}

/// Writes a value as names and values, by way of JSON.
private enum FormItems {
    static func items(of value: some Encodable, using encoder: JSONEncoder) throws -> [URLQueryItem] {
        guard let object = try JSONSerialization.jsonObject(with: encoder.encode(value)) as? [String: Any] else {
            throw failure(value, "a query or a form has named fields, and this value has none")
        }
        return try object.sorted { $0.key < $1.key }.flatMap { name, field in
            try ((field as? [Any]) ?? [field]).compactMap { element in
                switch element {
                case is NSNull:
                    return nil
                case let text as String:
                    return URLQueryItem(name: name, value: text)
                case is [Any], is [String: Any]:
                    throw failure(
                        value,
                        "the field \(DisplayText.quoted(name)) of a query or a form is not a simple value"
                    )
                default:
                    let text = try JSONSerialization.data(withJSONObject: element, options: .fragmentsAllowed)
                    return URLQueryItem(name: name, value: String(decoding: text, as: UTF8.self))
                }
            }
        }
    }

    private static func failure(_ value: some Encodable, _ reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: [], debugDescription: reason))
    }
}
