import Foundation

/// Parses dates in header fields: RFC 9110, section 5.6.7, in the only form that may be sent, `Sun, 06 Nov 1994
/// 08:49:37 GMT`.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns whole seconds on a scale that only serves to compare dates, or nil for another form.
    static func seconds(_ text: String) -> Int64? {
        let words = text.split(separator: " ")
        guard words.count == 6, words[0].count == 4, words[0].hasSuffix(","), words[5] == "GMT",
            let day = HTTPNumber.parse(words[1]), (1...31).contains(day),
            let month = months.firstIndex(of: String(words[2])),
            let year = HTTPNumber.parse(words[3]), (1...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { HTTPNumber.parse($0) }
        guard time.count == 3, time[0] < 24, time[1] < 60, time[2] <= 60 else { return nil }
        return daysSinceYearZero(year: year, month: Int64(month) + 1, day: day) * 86_400
            + time[0] * 3_600 + time[1] * 60 + time[2]
    }

    /// Counts years from March, so that the leap day is the last day of a year.
    private static func daysSinceYearZero(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month > 2 ? year : year - 1
        let shiftedMonth = month > 2 ? month - 3 : month + 9
        return shiftedYear * 365 + shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
            + (shiftedMonth * 153 + 2) / 5 + day
    }
}
