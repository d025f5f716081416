import Foundation

/// The hash function SHA-256: FIPS 180-4. On Linux, Foundation has none.
struct SHA256 {
    private var state = primes.prefix(8).map { fraction(Double($0).squareRoot()) }
    private var rest = Data()
    private var count: UInt64 = 0

    mutating func update(_ bytes: Data) {
        count += UInt64(bytes.count)
        rest += bytes
        let whole = rest.count / 64 * 64
        rest.withUnsafeBytes { bytes in
            for start in stride(from: 0, to: whole, by: 64) { add(.init(rebasing: bytes[start..<start + 64])) }
        }
        rest = Data(rest.dropFirst(whole))
    }

    /// Returns the 32 bytes of the hash. Called once.
    mutating func finish() -> [UInt8] {
        let length = count * 8
        let padding = Data(count: (119 - rest.count) % 64)
        update(Data([0x80]) + padding + withUnsafeBytes(of: length.bigEndian) { Data($0) })
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private mutating func add(_ block: UnsafeRawBufferPointer) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            for index in 0..<16 {
                words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = Self.turned(early, 7) ^ Self.turned(early, 18) ^ early >> 3
                let second = Self.turned(late, 17) ^ Self.turned(late, 19) ^ late >> 10
                words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            var (a, b, c, d) = (state[0], state[1], state[2], state[3])
            var (e, f, g, h) = (state[4], state[5], state[6], state[7])
            for index in 0..<64 {
                let sum = Self.turned(e, 6) ^ Self.turned(e, 11) ^ Self.turned(e, 25)
                let first = h &+ sum &+ ((e & f) ^ (~e & g)) &+ Self.constants[index] &+ words[index]
                let other = Self.turned(a, 2) ^ Self.turned(a, 13) ^ Self.turned(a, 22)
                let second = other &+ ((a & b) ^ (a & c) ^ (b & c))
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
            for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
        }
    }

    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static let primes = (2...311).filter { number in !(2..<number).contains { number.isMultiple(of: $0) } }
    private static let constants = primes.map { fraction(cbrt(Double($0))) }

    /// Returns the first 32 bits of a number's fraction, which a `Double` has room for.
    private static func fraction(_ root: Double) -> UInt32 { UInt32(truncatingIfNeeded: Int(root * 0x1p32)) }
}
