/// A single range of bytes in a `Range` field: RFC 9110, section 14.1.2.
package struct RequestedRange {
    private let first: Int64?
    private let last: Int64?

    /// - Returns: nil for several ranges, other units, and malformed fields.
    package init?(_ field: String) {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(FieldList.trimmed)
        guard ends.count == 2, ends != ["", ""], ends.allSatisfy({ $0.isEmpty || HTTPNumber.isValid($0) }) else {
            return nil
        }
        first = Self.position(ends[0])
        last = Self.position(ends[1])
        if let first, let last, first > last { return nil }
    }

    /// A number that doesn't fit is beyond the end of any representation.
    private static func position(_ digits: Substring) -> Int64? {
        digits.isEmpty ? nil : HTTPNumber.parse(digits) ?? .max
    }

    /// Returns the part to send of a representation; nil if it has no byte of the range.
    package func part(of size: Int64) -> Range<Int64>? {
        let start = first ?? max(0, size - (last ?? 0))
        let end = first == nil ? size : min(last ?? .max, size - 1) + 1
        return start < end ? start..<end : nil
    }

    /// Returns true if a response with these bytes answers the request.
    package func allows(_ bytes: ClosedRange<Int64>, of total: Int64?) -> Bool {
        if let first {
            return bytes.lowerBound == first && bytes.upperBound <= last ?? .max
        }
        // A suffix range: the last `count` bytes, or all of them if there are fewer.
        guard let count = last, Int64(bytes.count) <= count else { return false }
        return total.map { bytes.upperBound == $0 - 1 } ?? true
    }
}
