/// A set of ASCII characters, as a bit set.
package struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    package init(_ text: StaticString) {
        text.withUTF8Buffer { bytes in
            for byte in bytes {
                if byte < 64 { low |= 1 << byte } else { high |= 1 << (byte - 64) }
            }
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
        text.withBytes { bytes in
            // Without a branch for each byte: nearly all texts pass.
            var isMissing: UInt64 = 0
            for byte in bytes {
                let bits = byte & 64 == 0 ? low : high
                isMissing |= ~(bits >> UInt64(byte & 63)) | UInt64(byte >> 7)
            }
            return isMissing & 1 == 0
        }
    }
}

extension String {
    /// Calls `body` with the text in UTF-8. Unlike `withUTF8`, it changes nothing, and so needs no copy to retain.
    @inlinable
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        // A string that was bridged from Objective-C.
        var copy = self
        return copy.withUTF8(body)
    }
}
