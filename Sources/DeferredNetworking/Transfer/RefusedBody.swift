import Foundation

/// The body of a response that isn't accepted. Its beginning becomes part of the error; the rest is not read.
struct RefusedBody {
    /// The number of bytes to read before the transfer ends.
    static let limit = 64 << 10

    private let head: ResponseHead
    private var bytes = Data()

    init(of head: ResponseHead) {
        self.head = head
    }

    /// The error that the request fails with.
    var error: URLClientError {
        let code = URLClientError.Code.unacceptableStatus(code: head.status, body: bytes)
        return URLClientError(code, of: head)
    }

    /// - Throws: ``error`` when the limit is reached.
    mutating func append(_ new: Data) throws(URLClientError) {
        bytes += new.prefix(Self.limit - bytes.count)
        if bytes.count == Self.limit { throw error }
    }
}
