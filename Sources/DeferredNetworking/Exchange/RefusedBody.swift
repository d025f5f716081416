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
        let code = URLClientError.Code.unacceptableStatus(code: head.status.code, body: bytes)
        return URLClientError(code, of: head)
    }

    /// Returns the error that the request fails with when its transfer ends: the status, however much of the body has
    /// come, unless the end has another reason than the connection.
    func error(at result: Result<ResponseHead, any Error>) -> any Error {
        guard case .failure(let failure) = result else { return error }
        if let failure = failure as? URLClientError, case .truncatedBody = failure.code { return error }
        return (failure as? URLError)?.code == .networkConnectionLost ? error : failure
    }

    /// - Throws: ``error`` when the limit is reached.
    mutating func append(_ new: Data) throws(URLClientError) {
        bytes += new.prefix(Self.limit - bytes.count)
        if bytes.count == Self.limit { throw error }
    }
}
