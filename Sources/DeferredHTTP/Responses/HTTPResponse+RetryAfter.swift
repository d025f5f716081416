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
        // More seconds are longer than anybody waits.
        return secondsOfRateLimit(date, now).map { .seconds(min($0, 1 << 32)) }
    }

    private func secondsOfRateLimit(_ date: String?, _ now: Date) -> Int64? {
        if let field = headers.combined("RateLimit") { return Self.secondsOfPolicies(field) }
        if number("RateLimit-Remaining") == 0 { return number("RateLimit-Reset") }
        guard number("X-RateLimit-Remaining") == 0, let reset = number("X-RateLimit-Reset") else { return nil }
        guard reset > Self.longestCount else { return reset }
        let start = date.flatMap { HTTPDate.seconds($0) } ?? Int64(now.timeIntervalSince1970)
        return max(0, reset - start)
    }

    /// More seconds than this are a time since 1970: thirty years.
    private static let longestCount: Int64 = 30 * 365 * 86_400

    private func number(_ field: String) -> Int64? {
        headers[field].flatMap { Self.bounded(FieldList.trimmed($0[...])) }
    }

    /// Returns a number that can be added to and subtracted from.
    private static func bounded(_ text: Substring) -> Int64? { HTTPNumber.parse(text).map { min($0, 1 << 40) } }

    /// Returns the longest time that one of the policies that are used up asks for. Each member with a `;` is a policy;
    /// the others are one together, in the form of an older draft.
    private static func secondsOfPolicies(_ field: String) -> Int64? {
        let members = FieldList.members(of: field)
        let policies = members.filter { $0.contains(";") }
        let others = members.filter { !$0.contains(";") }.joined(separator: ",")
        return (policies + [others[...]]).compactMap { policy -> Int64? in
            let values = parameters(policy)
            guard (values["r"] ?? values["remaining"]) == 0 else { return nil }
            return values["t"] ?? values["reset"]
        }.max()
    }

    /// Returns the numbers of `"default";r=0;t=30` and of `limit=100, remaining=0, reset=30`.
    private static func parameters(_ field: Substring) -> [String: Int64] {
        field.split { $0 == ";" || $0 == "," }.reduce(into: [:]) { result, parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1).map(FieldList.trimmed)
            if parts.count == 2, let number = bounded(parts[1]) {
                result[parts[0].lowercased()] = number
            }
        }
    }
}
