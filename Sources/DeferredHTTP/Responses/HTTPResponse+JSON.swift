public import Foundation

extension HTTPResponse {
    /// Decodes the body from JSON.
    ///
    /// ```swift
    /// let user = try await chain.load(request).get().decode(User.self)
    /// ```
    ///
    /// - Throws: ``HTTPError`` with the code ``HTTPError/Code/cannotDecode``, this response, and the decoder's error.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self,
        using decoder: JSONDecoder = JSONDecoder()
    ) throws(HTTPError) -> T {
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw HTTPError(.cannotDecode, request: request, response: self, underlying: error)
        }
    }
}
