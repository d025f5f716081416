/// The field `Content-Range` of a 206 or a 416: RFC 9110, section 14.4.
package struct ContentRange: Equatable {
    /// The first and last byte positions of the range, or nil for `bytes */N`.
    package let bytes: ClosedRange<Int64>?

    /// The length of the whole representation, or nil for `*`.
    package let total: Int64?

    /// - Returns: nil for another unit, a malformed field, or a range that ends beyond the total.
    package init?(_ field: String) {
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let sides = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let total = HTTPNumber.parse(sides[1])
        guard total != nil || sides[1] == "*" else { return nil }
        self.total = total
        if sides[0] == "*" {
            bytes = nil
        } else {
            let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let first = HTTPNumber.parse(ends[0]), let last = HTTPNumber.parse(ends[1]),
                first <= last, last < total ?? .max
            else { return nil }
            bytes = first...last
        }
    }
}
