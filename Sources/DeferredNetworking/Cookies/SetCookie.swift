import Foundation

/// The value of a `Set-Cookie` field: RFC 6265, section 5.2.
struct SetCookie {
    /// The most bytes of a name and its value.
    private static let largest = 4_096

    /// 400 days in seconds: the limit of RFC 6265's revision, and a number that any calendar can take.
    private static let greatestAge: Int64 = 400 * 86_400

    let name: String
    let value: String

    /// In lower case, without the dot in front; nil if there is none.
    private(set) var domain: String?

    /// Nil for the default.
    private(set) var path: String?
    private(set) var isSecure = false

    /// The end of the cookie, which is past if it is to be deleted; nil for that of the session.
    var expires: Date? { endByAge ?? endByDate }

    private var endByAge: Date?
    private var endByDate: Date?

    /// - Returns: nil for text that names no cookie.
    init?(_ text: String, now: Date) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        name = Self.trimmed(pair[..<equals])
        value = Self.trimmed(pair[pair.index(after: equals)...])
        guard !name.isEmpty, name.utf8.count + value.utf8.count <= Self.largest else { return nil }
        for part in parts.dropFirst() {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(Self.trimmed)
            // Of several attributes of a name, the last one counts.
            setAttribute(halves[0].lowercased(), to: halves.count > 1 ? halves[1] : "", now: now)
        }
    }

    /// Returns whether the cookie is what the prefix of its name promises to the server that gets it: the revision of
    /// RFC 6265, section 4.1.3.
    ///
    /// - Parameter isSecure: Whether it came over TLS.
    func keepsPromise(where isSecure: Bool) -> Bool {
        let name = name.lowercased()
        if name.hasPrefix("__secure-") { return isSecure && self.isSecure }
        guard name.hasPrefix("__host-") else { return true }
        return isSecure && self.isSecure && (domain ?? "").isEmpty && path == "/"
    }

    private mutating func setAttribute(_ name: String, to value: String, now: Date) {
        switch name {
        case "expires":
            endByDate = Self.date(value) ?? endByDate
        case "max-age":
            let digits = value.hasPrefix("-") ? value.dropFirst() : value[...]
            guard HTTPNumber.isValid(digits) else { return }
            let age = value.hasPrefix("-") ? 0 : min(Int64(digits) ?? .max, Self.greatestAge)
            endByAge = age == 0 ? .distantPast : now.addingTimeInterval(TimeInterval(age))
        case "domain":
            domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
        case "path":
            path = value.hasPrefix("/") ? value : nil
        case "secure":
            isSecure = true
        default:
            break
        }
    }

    /// Returns the cookies of fields that were joined by commas: a comma begins another one if a name and an equals sign
    /// follow, and belongs to a date otherwise.
    static func separated(_ text: String) -> [String] {
        var result: [String] = []
        for piece in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = piece.prefix { $0 != "=" && $0 != ";" }
            let isFirst = piece.dropFirst(name.count).first == "=" && HTTPToken.isValid(trimmed(name))
            if isFirst || result.isEmpty {
                result.append(trimmed(piece))
            } else {
                result[result.count - 1] += "," + piece
            }
        }
        return result
    }

    private static func trimmed(_ text: Substring) -> String { String(FieldList.trimmed(text)) }

    /// Returns the date of `Expires`, in the many forms that servers write: RFC 6265, section 5.1.1.
    static func date(_ text: String) -> Date? {
        var time: [Int64]?
        var day: Int64?
        var month: Int64?
        var year: Int64?
        for word in text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == ":") }) {
            let digits = word.prefix { $0.isASCII && $0.isNumber }
            if time == nil, let found = self.time(word) {
                time = found
            } else if day == nil, (1...2).contains(digits.count) {
                day = Int64(digits)
            } else if month == nil, let found = HTTPDate.month(word.prefix(3).lowercased()[...]) {
                month = found
            } else if year == nil, (2...4).contains(digits.count) {
                year = Int64(digits)
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1_900 } else if year < 70 { year += 2_000 }
        guard (1_601...9_999).contains(year), let days = HTTPDate.days(year: year, month: month, day: day) else {
            return nil
        }
        return Date(timeIntervalSince1970: TimeInterval(days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]))
    }

    private static func time(_ word: Substring) -> [Int64]? {
        var parts = word.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // Anything may follow, such as a time zone.
        parts[2] = parts[2].prefix { $0.isASCII && $0.isNumber }
        guard parts.allSatisfy({ (1...2).contains($0.count) }) else { return nil }
        let numbers = parts.compactMap { HTTPNumber.parse($0) }
        guard numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
        return numbers
    }
}
