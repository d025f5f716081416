import Foundation

/// The body of a response that isn't accepted: its beginning goes into the error, and the rest is not waited for.
struct RefusedBody {
    /// How much of it is read. Then the transfer ends.
    static let limit = 64 << 10

    private let code: Int
    private var bytes = Data()

    init(status code: Int) {
        self.code = code
    }

    /// What the request fails with.
    var error: URLClientError { .unacceptableStatus(code: code, body: bytes) }

    /// - Throws: ``error`` when there is enough of it.
    mutating func append(_ new: Data) throws(URLClientError) {
        bytes += new.prefix(Self.limit - bytes.count)
        if bytes.count == Self.limit { throw error }
    }
}
