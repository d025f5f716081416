internal import DeferredNetworking
public import Foundation

/// The names of values within arrays and objects, in a query or a form.
public enum FormNesting: Sendable, Hashable {
    /// Each element of an array has the array's name, `a=1&a=2`, and an object within an object is an error.
    case flat

    /// `a[]=1&a[]=2` and `a[b]=1`, as Rails and PHP read them.
    case brackets

    /// `a[0]=1&a[1]=2` and `a[b]=1`, so that elements that are objects are told apart.
    case indexedBrackets
}

extension HTTPRequest {
    /// Adds the properties of a value to the query, each as an item.
    ///
    /// ```swift
    /// struct Search: Encodable { var q: String, page: Int?, labels: [String] }
    /// try request.addQuery(Search(q: "a b", page: nil, labels: ["x", "y"]))  // q=a%20b&labels=x&labels=y
    /// ```
    ///
    /// Numbers and Booleans are written as in JSON, dates and data as `encoder` writes them. `nil` is left out, and each
    /// element of an array is an item of its own. The items are sorted by name. Brackets are percent-encoded.
    ///
    /// - Parameters:
    ///   - value: A value with named properties.
    ///   - nesting: The names of values within arrays and objects.
    ///   - encoder: Encodes the value, with its strategies for keys, dates and data.
    /// - Throws: The encoder's `EncodingError`, also for an object within an object, unless `nesting` has names for it.
    public mutating func addQuery(
        _ value: some Encodable,
        nesting: FormNesting = .flat,
        using encoder: JSONEncoder = JSONEncoder()
    ) throws {
        for item in try FormItems.items(of: value, nesting, using: encoder) {
            addQueryItem(name: item.name, value: item.value)
        }
    }
}

extension HTTPBody {
    /// Creates a body from the properties of a value, as `application/x-www-form-urlencoded`.
    ///
    /// The fields are those of ``HTTPRequest/addQuery(_:nesting:using:)``.
    ///
    /// - Throws: The encoder's `EncodingError`, also for an object within an object, unless `nesting` has names for it.
    public static func form(
        encoding value: some Encodable,
        nesting: FormNesting = .flat,
        using encoder: JSONEncoder = JSONEncoder()
    ) throws -> HTTPBody {
        form(try FormItems.items(of: value, nesting, using: encoder))
    }
}

/// Writes a value as names and values, by way of JSON.
private enum FormItems {
    static func items(
        of value: some Encodable,
        _ nesting: FormNesting,
        using encoder: JSONEncoder
    ) throws -> [URLQueryItem] {
        guard let object = try JSONSerialization.jsonObject(with: encoder.encode(value)) as? [String: Any] else {
            throw failure(value, "a query or a form has named fields, and this value has none")
        }
        return try object.sorted { $0.key < $1.key }.flatMap { name, field in
            guard let items = try items(field, named: name, nesting, isInArray: false) else {
                throw failure(
                    value,
                    "the field \(DisplayText.quoted(name)) of a query or a form is not a simple value; use the nesting "
                        + "`brackets` if the server reads it"
                )
            }
            return items
        }
    }

    /// Returns the items of a field; nil if they have no names.
    private static func items(
        _ field: Any,
        named name: String,
        _ nesting: FormNesting,
        isInArray: Bool
    ) throws -> [URLQueryItem]? {
        switch field {
        case is NSNull:
            return []
        case let text as String:
            return [URLQueryItem(name: name, value: text)]
        case let array as [Any]:
            if isInArray, nesting == .flat { return nil }
            var result: [URLQueryItem] = []
            for (index, element) in array.enumerated() {
                let place =
                    switch nesting {
                    case .flat: name
                    case .brackets: name + "[]"
                    case .indexedBrackets: name + "[\(index)]"
                    }
                guard let items = try items(element, named: place, nesting, isInArray: true) else { return nil }
                result += items
            }
            return result
        case let object as [String: Any]:
            if nesting == .flat { return nil }
            return try object.sorted { $0.key < $1.key }.flatMap { key, element in
                try items(element, named: "\(name)[\(key)]", nesting, isInArray: false) ?? []
            }
        default:
            let text = try JSONSerialization.data(withJSONObject: field, options: .fragmentsAllowed)
            return [URLQueryItem(name: name, value: String(decoding: text, as: UTF8.self))]
        }
    }

    private static func failure(_ value: some Encodable, _ reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: [], debugDescription: reason))
    }
}
