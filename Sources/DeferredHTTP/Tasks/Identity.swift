internal import Foundation
internal import Synchronization

/// A version 4 UUID that costs no system call, unlike Foundation's.
///
/// It is the position in a sequence that starts at random in each process, mixed so that neighbours share nothing.
struct Identity: Sendable, Hashable {
    private static let seed = (high: UInt64.random(in: 0...UInt64.max), low: UInt64.random(in: 0...UInt64.max))
    private static let count = Atomic<UInt64>(0)

    private let number: UInt64

    init() {
        number = Self.count.add(1, ordering: .relaxed).newValue
    }

    var uuid: UUID {
        // Two permutations of 64 bits: no number occurs twice in a process, although six of its bits are overwritten.
        var bytes = (Self.mixed(Self.seed.high &+ number), Self.mixed(Self.seed.low ^ number))
        return withUnsafeMutableBytes(of: &bytes) { bytes in
            bytes[6] = bytes[6] & 0x0F | 0x40
            bytes[8] = bytes[8] & 0x3F | 0x80
            return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
        }
    }

    /// The finaliser of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var number = number &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
