internal import DeferredNetworking

extension LoopbackServer {
    /// Header fields in order; a name can occur several times.
    ///
    /// ```swift
    /// let headers: LoopbackServer.Headers = ["Set-Cookie": "a=1", "Set-Cookie": "b=2"]
    /// headers["set-cookie"]               // "a=1"
    /// headers.values(for: "set-cookie")   // ["a=1", "b=2"]
    /// ```
    public struct Headers: Sendable, Hashable, ExpressibleByDictionaryLiteral {
        /// One header field.
        public struct Field: Sendable, Hashable {
            /// The name, spelled as it was sent or is to be sent.
            public var name: String

            /// The value.
            public var value: String

            /// Creates a field.
            public init(name: String, value: String) {
                (self.name, self.value) = (name, value)
            }
        }

        /// All fields, in order.
        public var fields: [Field]

        /// Creates headers from fields.
        public init(_ fields: [Field]) {
            self.fields = fields
        }

        /// Creates headers from a literal, which can repeat a name.
        public init(dictionaryLiteral elements: (String, String)...) {
            fields = elements.map { Field(name: $0.0, value: $0.1) }
        }

        /// The value of the first field with this name, ignoring case.
        public subscript(name: String) -> String? {
            values(for: name).first
        }

        /// Returns the values of all fields with this name, ignoring case, in order.
        public func values(for name: String) -> [String] {
            fields.filter { HTTPToken.areEqualWithoutCase($0.name, name) }.map(\.value)
        }
    }
}
