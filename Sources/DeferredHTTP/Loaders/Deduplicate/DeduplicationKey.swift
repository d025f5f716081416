internal import Foundation

/// The parts of a request by which requests are compared: an object, since several closures keep it.
final class DeduplicationKey: Hashable, Sendable {
    private let hash: Int
    private let method: HTTPMethod
    private let parts: URLParts
    private let headers: HTTPHeaders
    private let body: HTTPBody
    // SAFETY: made of values that are Sendable, and never written.
    nonisolated(unsafe) private let options: [ObjectIdentifier: AnyHashable]

    /// Returns `nil` for a request that can't be compared, or that must not be merged.
    init?(_ request: HTTPRequest) {
        guard request.isDeduplicated ?? request.method.isSafe, request.delivery == .data, !request.body.isStreamed,
            let options = request.options.comparable
        else {
            return nil
        }
        (method, parts, headers, body) = (request.method, request.parts, request.headers, request.body)
        self.options = options
        var hasher = Hasher()
        hasher.combine(method)
        hasher.combine(parts)
        hash = hasher.finalize()
    }

    // The rest differs seldom, and is compared then.
    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (one: DeduplicationKey, other: DeduplicationKey) -> Bool {
        one === other
            || one.hash == other.hash && one.method == other.method && one.parts == other.parts
                && one.headers == other.headers && one.body == other.body && one.options == other.options
    }
}

extension HTTPRequest {
    /// A Boolean value that indicates whether ``Deduplicate`` merges this request with equal ones; `nil` to decide by
    /// its method: safe methods, such as `GET`, are merged.
    public var isDeduplicated: Bool? {
        get { self[DeduplicatedOption.self] }
        set { self[DeduplicatedOption.self] = newValue }
    }
}

private enum DeduplicatedOption: HTTPRequestOption {
    static let defaultValue: Bool? = nil
}
