import Foundation

@testable import DeferredCache
@testable import DeferredHTTP

/// Reads the rows of the tables of rules, and carries them out.
///
/// A row has columns between ` | `. Fields are separated by `; `. In a field, `@-10` is the date ten seconds before the
/// arrival of the response.
enum RulesTable {
    static let arrival: Int64 = 1_700_000_000
    static let salt: [UInt8] = [1, 2, 3]
    static let url = URL(string: "http://host/a/b?c")!
    static let key = CacheKey(URLParts(url), partition: nil)!

    static func columns(_ row: String) -> [String] {
        row.components(separatedBy: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    static func instant(_ seconds: Double) -> CacheInstant {
        let wall = Int64(seconds * 1_000)
        return CacheInstant(wall: wall, steady: wall - 1_000_000)
    }

    static func instant(after seconds: Double) -> CacheInstant { instant(Double(arrival) + seconds) }

    /// Splits `GET; Range: bytes=0-1` or `200; Age: 1`.
    static func message(_ text: String) -> (first: String, headers: HTTPHeaders) {
        var parts = text.components(separatedBy: "; ")
        let first = parts.removeFirst()
        let fields = parts.filter { !$0.isEmpty }.map { part in
            let sides = part.components(separatedBy: ": ")
            return HTTPHeaders.Field(name: sides[0], value: dated(sides.dropFirst().joined(separator: ": ")))
        }
        return (first, HTTPHeaders(fields))
    }

    private static func dated(_ value: String) -> String {
        guard value.hasPrefix("@"), let offset = Int64(value.dropFirst()) else { return value }
        return date(arrival + offset)
    }

    static func date(_ seconds: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }

    static func request(_ text: String) -> CacheRequest {
        let (method, headers) = message(text)
        return CacheRequest(HTTPMethod(rawValue: method), headers)
    }

    static func exchange(
        _ request: String,
        _ response: String,
        stored: StoredHead? = nil,
        isValidation: Bool = false,
        url: URL = url,
        delay: Double = 0,
        at arrivalOffset: Double = 0,
        sent: String? = nil
    ) -> StoringRules.Exchange {
        let (status, headers) = message(response)
        let asked = Self.request(request)
        return StoringRules.Exchange(
            request: asked,
            key: key,
            salt: salt,
            stored: stored,
            isValidation: isValidation,
            requestTime: instant(after: arrivalOffset - delay),
            responseTime: instant(after: arrivalOffset),
            status: HTTPStatus(Int(status) ?? 0),
            headers: headers,
            url: url,
            sentHeaders: sent.map { message($0).headers } ?? asked.headers
        )
    }

    /// Returns the head that is stored for a response, with a body of ten bytes if it is a whole one.
    static func stored(_ response: String, to request: String = "GET", delay: Double = 0) -> StoredHead? {
        switch StoringRules.judge(exchange(request, response, delay: delay)) {
        case .store(let head), .invalidate(_, stores: .some(let head)):
            head.extent.count < 0 ? head.with(extent: .init(count: 10, total: 10)) : head
        default: nil
        }
    }

    static func text(_ decision: ReuseRules.Decision) -> String {
        func text(_ reuse: ReuseRules.Reuse) -> String {
            let form =
                switch reuse.form {
                case .whole: ""
                case .part(let bytes): "206 \(bytes.lowerBound)-\(bytes.upperBound - 1) "
                case .notModified: "304 "
                }
            return form + (reuse.isStale ? "stale" : "fresh") + " \(reuse.age)" + (reuse.revalidates ? " +" : "")
        }
        switch decision {
        case .reuse(let reuse): return text(reuse)
        case .validate(let fallback): return "validate" + (fallback.map { " or " + text($0) } ?? "")
        case .complete(let completion): return "complete \(completion.count) \(completion.validator)"
        case .forward(let fallback): return "forward" + (fallback.map { " or " + text($0) } ?? "")
        case .unavailable: return "504"
        }
    }

    static func text(_ verdict: StoringRules.Verdict) -> String {
        switch verdict {
        case .store: "store"
        case .update(_, let answers): answers ? "update" : "update beside"
        case .append: "append"
        case .invalidate(let keys, let stores):
            "invalidate " + keys.map(\.target).joined(separator: " ") + (stores == nil ? "" : ", store")
        case .remove: "remove"
        case .repeatUnconditionally: "repeat"
        case .ignore: "ignore"
        }
    }
}
