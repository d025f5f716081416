import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The body of a response that isn't accepted: its beginning goes into the error, and the rest is not waited for.
struct RefusedBody {
    /// How much of it is read. Then the transfer ends.
    static let limit = 64 << 10

    private let response: HTTPURLResponse
    private var bytes = Data()

    init(of response: HTTPURLResponse) {
        self.response = response
    }

    /// What the request fails with.
    var error: URLClientError {
        let code = URLClientError.Code.unacceptableStatus(code: response.statusCode, body: bytes)
        return URLClientError(code, url: response.url, response: response)
    }

    /// - Throws: ``error`` when there is enough of it.
    mutating func append(_ new: Data) throws(URLClientError) {
        bytes += new.prefix(Self.limit - bytes.count)
        if bytes.count == Self.limit { throw error }
    }
}
