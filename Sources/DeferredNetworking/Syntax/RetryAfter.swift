package import Foundation

/// The field `Retry-After`: RFC 9110, section 10.2.3.
package enum RetryAfter {
    /// Returns the time that the server asks to wait, or nil if the field is missing or malformed.
    ///
    /// A date is compared with the response's own `Date`, so that wrong clocks don't matter, or otherwise with `now`.
    ///
    /// - Parameters:
    ///   - field: The value of `Retry-After`.
    ///   - date: The value of `Date`.
    package static func pause(field: String?, date: String?, now: Date) -> Duration? {
        guard let field = field.map({ FieldList.trimmed($0[...]) }) else { return nil }
        if HTTPNumber.isValid(field) {
            // A number of seconds that doesn't fit is longer than anybody waits.
            return .seconds(min(HTTPNumber.parse(field) ?? .max, 1 << 32))
        }
        guard let until = HTTPDate.seconds(String(field)) else { return nil }
        let start = date.flatMap { HTTPDate.seconds($0) }
        return .seconds(max(0, until - (start ?? Int64(now.timeIntervalSince1970))))
    }

    /// Returns the time that a response asks to wait, if any.
    static func pause(asked head: ResponseHead, now: Date) -> Duration? {
        pause(field: head.value(of: "Retry-After"), date: head.value(of: "Date"), now: now)
    }
}
