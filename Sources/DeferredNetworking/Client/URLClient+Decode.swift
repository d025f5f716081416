internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a request, and decodes the JSON that comes.
    ///
    /// ```swift
    /// let user = client.decode(User.self, from: URLRequest(url: url))
    /// ```
    ///
    /// - Parameters:
    ///   - type: What to decode. Decoding happens on a background queue.
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``. It gets `Accept: application/json` unless it has an `Accept`.
    ///   - decoder: Not to be changed before the end.
    ///   - options: What holds for this request only.
    /// - Returns: A task that fails with a `DecodingError` for a body that isn't what was asked for, and else like
    ///   ``begin(_:options:)-(URLRequest,_)``.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type,
        from request: URLRequest,
        using decoder: JSONDecoder = JSONDecoder(),
        options: RequestOptions = .init()
    ) -> Task<T> {
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("application/json", forHTTPHeaderField: "Accept")
        }
        return begin(request, options: options).map(on: .any()) { body, _ in try decoder.decode(type, from: body) }
    }

    /// Begins a `GET` request, and decodes the JSON that comes. See ``decode(_:from:using:options:)-(_,URLRequest,_,_)``.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type,
        from url: URL,
        using decoder: JSONDecoder = JSONDecoder(),
        options: RequestOptions = .init()
    ) -> Task<T> {
        decode(type, from: URLRequest(url: url), using: decoder, options: options)
    }
}
