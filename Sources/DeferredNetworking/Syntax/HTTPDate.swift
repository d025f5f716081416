import Foundation

/// Parses dates in header fields, in the three forms of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and the
/// obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
///
/// Names of days, of months and of the time zone may be in any case, since senders exist that get it wrong. Everything
/// else has to be exactly as in the grammar, but for one space in place of the first digit of a day.
package enum HTTPDate {
    private static let days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Returns the seconds since 1970, or nil for another form, or for a day that the calendar doesn't have.
    ///
    /// - Parameter now: The seconds since 1970 by which the century of a year of two digits is found: a date may be at
    ///   most 50 years in the future. By default, those of the system's clock.
    package static func seconds(_ text: String, now: Int64? = nil) -> Int64? {
        let words = text.lowercased().split(separator: " ", omittingEmptySubsequences: false)
        switch words.count {
        case 6 where words[5] == "gmt" && isShortDay(words[0].dropLast()) && words[0].last == ",":
            return date(words[1], words[2], year(words[3], digits: 4), words[4])
        case 4 where words[3] == "gmt" && days.contains(String(words[0].dropLast())) && words[0].last == ",":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 3, let short = year(parts[2], digits: 2) else { return nil }
            let now = now ?? Int64(Date().timeIntervalSince1970)
            let century = (1970 + now / 31_556_952) / 100 * 100
            // The latest year with these digits that is not more than 50 years ahead.
            for year in [century + 100 + short, century + short] {
                if let result = date(parts[0], parts[1], year, words[2]), result - now <= 50 * 31_556_952 {
                    return result
                }
            }
            return date(parts[0], parts[1], century - 100 + short, words[2])
        case 5 where isShortDay(words[0]):
            return date(words[2], words[1], year(words[4], digits: 4), words[3])
        case 6 where isShortDay(words[0]) && words[2].isEmpty && words[3].utf8.count == 1:
            return date("0" + words[3], words[1], year(words[5], digits: 4), words[4])
        default:
            return nil
        }
    }

    private static func isShortDay(_ word: Substring) -> Bool {
        word.utf8.count == 3 && days.contains { $0.hasPrefix(word) }
    }

    private static func year(_ word: Substring, digits: Int) -> Int64? {
        word.utf8.count == digits ? HTTPNumber.parse(word) : nil
    }

    private static func date(_ day: Substring, _ month: Substring, _ year: Int64?, _ time: Substring) -> Int64? {
        guard let year, year > 0, day.utf8.count == 2, let day = HTTPNumber.parse(day),
            let month = self.month(month)
        else { return nil }
        let fields = time.split(separator: ":", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { $0.utf8.count == 2 ? HTTPNumber.parse($0) : nil }
        // A minute may have a leap second.
        guard fields.count == 3, numbers.count == 3, numbers[0] < 24, numbers[1] < 60, numbers[2] <= 60,
            let days = days(year: year, month: month, day: day)
        else { return nil }
        return days * 86_400 + numbers[0] * 3_600 + numbers[1] * 60 + numbers[2]
    }

    /// Returns the number of a month, 1 to 12, from its first three letters in lower case.
    static func month(_ name: Substring) -> Int64? {
        months.firstIndex { $0 == name }.map { Int64($0) + 1 }
    }

    /// Returns the days since 1970, or nil for a day that the calendar doesn't have.
    static func days(year: Int64, month: Int64, day: Int64) -> Int64? {
        /// Counts years from March, so that the leap day is the last day of a year. The month may be the one after December.
        func firstDay(of month: Int64) -> Int64 {
            let shiftedYear = month > 2 ? year : year - 1
            let shiftedMonth = month > 2 ? month - 3 : month + 9
            return shiftedYear * 365 + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
                + (shiftedMonth * 153 + 2) / 5 - 719_468
        }
        let first = firstDay(of: month)
        return (1...firstDay(of: month + 1) - first).contains(day) ? first + day - 1 : nil
    }
}
