/// Parses decimal numbers in header fields: `1*DIGIT`, nothing else.
enum HTTPNumber {
    /// Returns the value of `text`, or nil if it has anything but digits, is empty, or doesn't fit.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
