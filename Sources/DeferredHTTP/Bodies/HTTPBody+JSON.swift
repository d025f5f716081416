public import Foundation

extension HTTPBody {
    /// Creates a body from a value, encoded as JSON.
    ///
    /// - Throws: The encoder's `EncodingError`.
    public static func json(_ value: some Encodable, using encoder: JSONEncoder = JSONEncoder()) throws -> HTTPBody {
        .data(try encoder.encode(value), contentType: "application/json")
    }
}
