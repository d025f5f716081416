public import Foundation

/// A decoder of the bodies of responses, such as `JSONDecoder` and `PropertyListDecoder`.
///
/// A client and a chain decode with any of them:
///
/// ```swift
/// let user = client.decode(User.self, from: request, using: PropertyListDecoder())
/// let rows = try await chain.load(request).get().decode([Row].self, using: CSVDecoder())
/// ```
///
/// A decoder of another library that has the same method, as Combine asks for it, needs one line:
///
/// ```swift
/// extension XMLDecoder: @retroactive BodyDecoder {}
/// ```
///
/// **Thread safety:** a decoder may be used for several bodies at the same time, on any thread. Foundation's are classes:
/// decoding doesn't change them, so that one can be shared, but setting their properties meanwhile is a data race. Set them
/// up before the first request, or give each request a decoder of its own, as the default does.
public protocol BodyDecoder {
    /// Decodes a whole body.
    ///
    /// - Throws: An error that says what is wrong; a `DecodingError` has a place that errors show.
    func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T

    /// The value of `Accept` for requests that have none; `nil`, by default, to send none.
    ///
    /// For a ``URLClient``, whose requests know their decoder.
    var mediaType: String? { get }
}

extension BodyDecoder {
    /// No type.
    public var mediaType: String? { nil }
}

extension JSONDecoder: BodyDecoder {
    /// `application/json`.
    public var mediaType: String? { "application/json" }
}

extension PropertyListDecoder: BodyDecoder {}
