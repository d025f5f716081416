/// Parses decimal numbers in header fields: `1*DIGIT`, nothing else.
package enum HTTPNumber {
    /// Returns true if `text` has at least one digit, and nothing else.
    package static func isValid(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }

    /// Returns true for the ASCII digits.
    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns the value of `text`, or nil if it has anything but digits, is empty, or doesn't fit.
    package static func parse(_ text: some StringProtocol) -> Int64? {
        isValid(text) ? Int64(text) : nil
    }
}
