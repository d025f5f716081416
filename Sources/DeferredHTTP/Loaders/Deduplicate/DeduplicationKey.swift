internal import Foundation

/// What makes two requests equal.
struct DeduplicationKey: Hashable, Sendable {
    private let method: HTTPMethod
    private let parts: URLParts
    private let headers: HTTPHeaders
    private let body: HTTPBody
    // SAFETY: made of values that are Sendable, and never written.
    nonisolated(unsafe) private let options: [ObjectIdentifier: AnyHashable]

    /// `nil` for a request that can't be compared, or that each has to be loaded for itself.
    init?(_ request: HTTPRequest) {
        guard request.isDeduplicated ?? request.method.isSafe, request.delivery == .data, !request.body.isStreamed,
            let options = request.options.comparable
        else {
            return nil
        }
        (method, parts, headers, body) = (request.method, request.parts, request.headers, request.body)
        self.options = options
    }
}

extension HTTPRequest {
    /// Whether ``Deduplicate`` merges this request with equal ones; `nil` for what its method says: safe ones, such as
    /// `GET`, are merged.
    public var isDeduplicated: Bool? {
        get { self[DeduplicatedOption.self] }
        set { self[DeduplicatedOption.self] = newValue }
    }
}

private enum DeduplicatedOption: HTTPRequestOption {
    static let defaultValue: Bool? = nil
}
