internal import DeferredCore
public import DeferredTask
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension URLClient {
    /// Begins a request, and decodes its response from JSON.
    ///
    /// ```swift
    /// let user = client.decode(User.self, from: URLRequest(url: url))
    /// ```
    ///
    /// - Parameters:
    ///   - type: The type to decode. Decoding happens on a background queue.
    ///   - request: See ``begin(_:options:)-(URLRequest,_)``. It gets `Accept: application/json` unless it has an
    ///     `Accept`.
    ///   - decoder: The decoder, which must not be changed before the task ends.
    ///   - options: Settings for this request only.
    /// - Returns: A task that fails with a `DecodingError` if the body can't be decoded as `type`, and otherwise like
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
        let body = transport.gather(
            request,
            { () throws(URLClientError) in try CheckedRequest(request, hasCache: transport.hasCache) },
            options: options,
            policies: policies(options),
            counting: .received,
            in: ProgressReporter(unit: .bytes)
        ) { body, head in
            // Without making Foundation's object, which nobody would see.
            guard head.isHTTP else { throw URLError(.badServerResponse, failing: head.url) }
            return body
        }
        return body.map(on: .any()) { try decoder.decode(type, from: $0) }
    }

    /// Begins a `GET` request, and decodes its response from JSON. See
    /// ``decode(_:from:using:options:)-(_,URLRequest,_,_)``.
    public func decode<T: Decodable & Sendable>(
        _ type: T.Type,
        from url: URL,
        using decoder: JSONDecoder = JSONDecoder(),
        options: RequestOptions = .init()
    ) -> Task<T> {
        decode(type, from: URLRequest(url: url), using: decoder, options: options)
    }
}
