import Foundation

/// The grammar of methods and field names: RFC 9110, section 5.6.2.
package enum HTTPToken {
    /// Returns true if `text` is a token: at least one character, and no delimiters, control or non-ASCII characters.
    package static func isValid(_ text: String) -> Bool {
        !text.isEmpty && characters.containsAll(of: text)
    }

    /// Returns whether two field names differ at most in case.
    package static func areEqualWithoutCase(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        if one.hasBytes(of: other) { return true }
        var rest = other.utf8.makeIterator()
        for byte in one.utf8 {
            guard let next = rest.next(), lowercased(byte) == lowercased(next) else { return false }
        }
        return true
    }

    /// Returns an ASCII letter in lower case, and any other byte unchanged.
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static let characters = ByteSet(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~"
    )
}

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

extension String {
    /// Returns whether the bytes are the same.
    ///
    /// `==` also finds those texts equal that Unicode does, such as the two forms of "é": servers don't, and neither is
    /// one user the other.
    package func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var (one, other) = (self, other)
        // A comparison of the views takes some ten times as many instructions.
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
                return memcmp(start, otherStart, one.count) == 0
            }
        }
    }
}
