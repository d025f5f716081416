/// Decimal numbers in header fields: `1*DIGIT`, nothing else.
enum HTTPNumber {
    /// The value of `text`, or nil when it has a sign, a space, no digits, or does not fit.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
