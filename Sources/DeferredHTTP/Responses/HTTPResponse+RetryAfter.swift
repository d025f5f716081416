internal import DeferredNetworking
internal import Foundation

extension HTTPResponse {
    /// The time that the server asks to wait before the next request; `nil` if it asks for none.
    ///
    /// From `Retry-After`, in seconds or as a date: RFC 9110, section 10.2.3. Otherwise, if no request is left, from
    /// `RateLimit` or `RateLimit-Reset` (draft-ietf-httpapi-ratelimit-headers) or from `X-RateLimit-Reset`, which is a
    /// number of seconds or, as with GitHub, a time since 1970. Dates are compared with the response's own `Date`.
    public var retryAfter: Duration? {
        let (date, now) = (headers["Date"], Date())
        if let pause = RetryAfter.pause(field: headers["Retry-After"], date: date, now: now) { return pause }
        if let field = headers["RateLimit"] {
            let parameters = Self.parameters(field)
            let remaining = parameters["r"] ?? parameters["remaining"]
            return remaining == 0 ? (parameters["t"] ?? parameters["reset"]).map { .seconds($0) } : nil
        }
        if number("RateLimit-Remaining") == 0 { return number("RateLimit-Reset").map { .seconds($0) } }
        guard number("X-RateLimit-Remaining") == 0, let reset = number("X-RateLimit-Reset") else { return nil }
        guard reset > Self.longestCount else { return .seconds(reset) }
        let start = date.flatMap { HTTPDate.seconds($0) } ?? Int64(now.timeIntervalSince1970)
        return .seconds(max(0, reset - start))
    }

    /// More seconds than this are a time since 1970: thirty years.
    private static let longestCount: Int64 = 30 * 365 * 86_400

    private func number(_ field: String) -> Int64? {
        headers[field].flatMap { HTTPNumber.parse(FieldList.trimmed($0[...])) }
    }

    /// Returns the numbers of `"default";r=0;t=30` and of `limit=100, remaining=0, reset=30`.
    private static func parameters(_ field: String) -> [String: Int64] {
        field.split { $0 == ";" || $0 == "," }.reduce(into: [:]) { result, parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1).map(FieldList.trimmed)
            if parts.count == 2, let number = HTTPNumber.parse(parts[1]) {
                result[parts[0].lowercased()] = number
            }
        }
    }
}
