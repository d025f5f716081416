internal import Foundation

/// The parts of a request by which requests are compared.
struct DeduplicationKey: Hashable, Sendable {
    private let request: HTTPRequest
    // SAFETY: made of values that are Sendable, and never written.
    nonisolated(unsafe) private let options: [ObjectIdentifier: AnyHashable]

    /// Returns `nil` for a request that can't be compared, or that must not be merged.
    init?(_ request: HTTPRequest) {
        guard request.isDeduplicated ?? request.method.isSafe, request.delivery == .data, !request.body.isStreamed,
            let options = request.options.comparable
        else {
            return nil
        }
        self.request = request
        self.options = options
    }

    // The rest differs seldom, and is compared then.
    func hash(into hasher: inout Hasher) {
        hasher.combine(request.parts.host)
        hasher.combine(request.parts.path)
        hasher.combine(request.parts.query)
    }

    static func == (one: DeduplicationKey, other: DeduplicationKey) -> Bool {
        one.request.isAlike(other.request) && one.options == other.options
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
