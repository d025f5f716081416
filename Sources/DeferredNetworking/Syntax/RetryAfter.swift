package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The field `Retry-After`: RFC 9110, section 10.2.3.
package enum RetryAfter {
    private static let epoch = HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") ?? 0

    /// How long the server asks to wait, or nil when it doesn't say, or says it in a form that can't be read.
    ///
    /// A date counts from the response's own `Date`, so that clocks that go wrong don't matter, or else from `now`.
    ///
    /// - Parameters:
    ///   - field: The field itself.
    ///   - date: The field `Date`.
    package static func pause(field: String?, date: String?, now: Date) -> Duration? {
        guard let field = field?.trimmingCharacters(in: .whitespaces) else { return nil }
        if !field.isEmpty, field.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // More seconds than fit into a number are more than anybody waits.
            return .seconds(min(HTTPNumber.parse(field) ?? .max, 1 << 32))
        }
        guard let until = HTTPDate.seconds(field) else { return nil }
        let start = date.flatMap(HTTPDate.seconds)
        return .seconds(max(0, until - (start ?? epoch + Int64(now.timeIntervalSince1970))))
    }

    /// The same for a response.
    static func pause(asked response: HTTPURLResponse, now: Date) -> Duration? {
        pause(
            field: response.value(forHTTPHeaderField: "Retry-After"),
            date: response.value(forHTTPHeaderField: "Date"),
            now: now
        )
    }
}
