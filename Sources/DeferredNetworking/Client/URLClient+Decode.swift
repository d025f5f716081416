internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a request, and decodes its response, by default from JSON.
    ///
    /// ```swift
    /// let user = client.decode(User.self, from: URLRequest(url: url))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type to decode. Decoding happens on a background queue.
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``. Unless it has an `Accept`, it gets the
    ///     ``BodyDecoder/mediaType`` of the decoder, for JSON `application/json`.
    ///   - decoder: Any ``BodyDecoder``, which must not be changed before the task ends. Several requests can share it.
    ///   - options: Settings for this request only.
    /// - Returns: A task that fails with the decoder's error, such as a `DecodingError`, if the body can't be decoded as
    ///   `type`, and otherwise like ``begin(_:options:)-(URLRequest,_)``.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type,
        from request: URLRequest,
        using decoder: some BodyDecoder & Sendable = JSONDecoder(),
        options: RequestOptions = .init()
    ) -> Task<T> {
        var request = request
        if let type = decoder.mediaType, request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue(type, forHTTPHeaderField: "Accept")
        }
        return begin(request, options: options).map(on: .any()) { try decoder.decode(type, from: $0.0) }
    }

    /// Begins a `GET` request, and decodes its response, by default from JSON. See
    /// ``decode(_:from:using:options:)-(_,URLRequest,_,_)``.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type,
        from url: URL,
        using decoder: some BodyDecoder & Sendable = JSONDecoder(),
        options: RequestOptions = .init()
    ) -> Task<T> {
        decode(type, from: URLRequest(url: url), using: decoder, options: options)
    }
}

extension Task where Success == (Data, ResponseHead) {
    /// Waits for the response, and decodes its body, by default from JSON, in the caller's isolation.
    ///
    /// For a type whose `Decodable` belongs to an actor, as every type's does in a module that is isolated to the main actor
    /// by default, and for one that isn't `Sendable`. ``URLClient/decode(_:from:using:options:)-(_,URLRequest,_,_)`` decodes
    /// elsewhere, and wants neither.
    ///
    /// ```swift
    /// let user = try await client.begin(request).decoded(User.self)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: Any ``BodyDecoder``.
    /// - Throws: The task's error, or the decoder's. Cancelling the Swift task that waits cancels the request.
    public func decoded<T: Decodable>(
        _ type: T.Type = T.self,
        using decoder: some BodyDecoder = JSONDecoder()
    ) async throws -> T {
        try decoder.decode(type, from: try await get().0)
    }
}
