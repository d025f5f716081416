/// A set of ASCII characters, as a bit set.
package struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ text: StaticString) {
        text.withUTF8Buffer { bytes in
            for byte in bytes { insert(byte) }
        }
    }

    package func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? low & (1 << byte) != 0 : byte < 128 && high & (1 << (byte - 64)) != 0
    }

    package func union(_ text: StaticString) -> ByteSet {
        var result = self
        let other = ByteSet(text)
        (result.low, result.high) = (low | other.low, high | other.high)
        return result
    }

    package func subtracting(_ text: StaticString) -> ByteSet {
        var result = self
        let other = ByteSet(text)
        (result.low, result.high) = (low & ~other.low, high & ~other.high)
        return result
    }

    /// Returns true if all bytes of `text` are in the set.
    package func containsAll(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            for byte in bytes {
                let bits = byte < 64 ? low : byte < 128 ? high : 0
                if bits >> UInt64(byte & 63) & 1 == 0 { return false }
            }
            return true
        }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
    }
}
