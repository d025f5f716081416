/// Header fields in order. Names are compared without regard to case, and a name can occur several times.
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "text/html", "Cookie": "a=1"]
/// headers["accept"] = "application/json"
/// headers.add(name: "X-Tag", value: "one")
/// headers.add(name: "X-Tag", value: "two")
/// headers.values(for: "x-tag")  // ["one", "two"]
/// ```
///
/// Names and values are checked when a request is loaded: a line break in one, which could inject another field, fails
/// the request. A description shows no credentials.
///
/// - Complexity: Looking up is O(*n*): the fields of a message are few.
public struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// One header field. Two fields are equal when their values are equal and their names differ at most in case.
    public struct Field: Sendable {
        /// The name, spelled as it is sent.
        public var name: String

        /// The value.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields, in order.
    public var fields: [Field]

    /// Creates headers from fields.
    public init(_ fields: [Field] = []) {
        self.fields = fields
    }

    /// Creates headers from fields without an order, which get that of their names.
    package init(sorting fields: [String: String]) {
        self.fields = fields.sorted { $0.key < $1.key }.map { Field(name: $0.key, value: $0.value) }
    }

    /// Creates headers from a literal, which can repeat a name.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field with this name. Setting it replaces all fields with the name, in the place of the
    /// first; `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { $0.isNamed(name) }?.value }
        set {
            guard let newValue else { return remove(name) }
            guard let first = fields.firstIndex(where: { $0.isNamed(name) }) else {
                return add(name: name, value: newValue)
            }
            let rest = fields[(first + 1)...].filter { !$0.isNamed(name) }
            fields.replaceSubrange(first..., with: [Field(name: name, value: newValue)] + rest)
        }
    }

    /// Returns the values of all fields with this name, in order.
    public func values(for name: String) -> [String] {
        fields.filter { $0.isNamed(name) }.map(\.value)
    }

    /// Adds a field at the end, even if there is already one with this name.
    public mutating func add(name: String, value: String) {
        fields.append(Field(name: name, value: value))
    }

    /// Removes all fields with this name.
    public mutating func remove(_ name: String) {
        fields.removeAll { $0.isNamed(name) }
    }

    /// Adds those fields of `others` whose names do not occur here.
    package mutating func addMissing(from others: HTTPHeaders) {
        let missing = others.fields.filter { other in !fields.contains { $0.isNamed(other.name) } }
        fields += missing
    }
}

extension HTTPHeaders.Field: Hashable {
    package func isNamed(_ other: String) -> Bool {
        // Most names are told apart by their lengths, without a call.
        name.utf8.count == other.utf8.count && HTTPToken.areEqualWithoutCase(name, other)
    }

    /// Compares the names without regard to case, and the bytes of the values.
    public static func == (one: Self, other: Self) -> Bool {
        one.value.hasBytes(of: other.value) && one.isNamed(other.name)
    }

    /// Hashes the name without regard to case.
    public func hash(into hasher: inout Hasher) {
        for byte in name.utf8 { hasher.combine(HTTPToken.lowercased(byte)) }
        hasher.combine(value)
    }
}

extension HTTPHeaders: Hashable {}

/// The fields, in order.
extension HTTPHeaders: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }

    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The field in one line; of credentials, only the name, and of URLs no secrets.
    public var description: String {
        let isURL = ["location", "content-location", "referer"].contains { isNamed($0) }
        let shown = Redaction.isSecret(name) ? Redaction.mark : isURL ? Redaction.reference(value) : value
        return DisplayText.line("\(name): \(shown)")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// No children, so that `dump` reveals no credentials.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The fields; of credentials, only the names.
    public var description: String { "[" + fields.map(\.description).joined(separator: ", ") + "]" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The fields, each with its own description.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: fields, displayStyle: .collection) }
}
