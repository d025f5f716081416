/// The checksum XXH64 of Yann Collet: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
///
/// Finds accidents, such as a block that was not written before the power failed; it is no protection against somebody
/// who may write the files.
enum XXHash64 {
    private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
        0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
        0x27D4_EB2F_1656_67C5
    )

    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let (one, two, three, four, five) = primes
        var position = 0
        var result: UInt64
        if bytes.count >= 32 {
            var (a, b, c, d) = (one &+ two, two, UInt64(0), UInt64(0) &- one)
            while position + 32 <= bytes.count {
                a = round(a, word(bytes, position))
                b = round(b, word(bytes, position + 8))
                c = round(c, word(bytes, position + 16))
                d = round(d, word(bytes, position + 24))
                position += 32
            }
            result = rotated(a, 1) &+ rotated(b, 7) &+ rotated(c, 12) &+ rotated(d, 18)
            for lane in [a, b, c, d] { result = (result ^ round(0, lane)) &* one &+ four }
        } else {
            result = five
        }
        result &+= UInt64(bytes.count)
        while position + 8 <= bytes.count {
            result = rotated(result ^ round(0, word(bytes, position)), 27) &* one &+ four
            position += 8
        }
        if position + 4 <= bytes.count {
            let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
            result = rotated(result ^ half &* one, 23) &* two &+ three
            position += 4
        }
        while position < bytes.count {
            result = rotated(result ^ UInt64(bytes[position]) &* five, 11) &* one
            position += 1
        }
        result = (result ^ result >> 33) &* two
        result = (result ^ result >> 29) &* three
        return result ^ result >> 32
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }

    private static func round(_ state: UInt64, _ word: UInt64) -> UInt64 {
        rotated(state &+ word &* primes.1, 31) &* primes.0
    }

    private static func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}
