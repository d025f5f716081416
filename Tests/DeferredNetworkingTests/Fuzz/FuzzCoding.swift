import Foundation

/// Encodes framings and codings, byte by byte.
enum FuzzCoding {
    /// Encodes a body in chunks of these sizes, and one with the rest. There are no trailers.
    static func chunked(_ body: Data, sizes: [Int], extensions: String = "", uppercase: Bool = false) -> Data {
        var result = Data()
        var rest = body[...]
        for size in sizes + [body.count] where !rest.isEmpty && size > 0 {
            let piece = rest.prefix(size)
            rest = rest.dropFirst(size)
            let digits = String(piece.count, radix: 16, uppercase: uppercase)
            result += Data("\(digits)\(extensions)\r\n".utf8) + piece + Data("\r\n".utf8)
        }
        return result + Data("0\r\n\r\n".utf8)
    }

    /// Encodes up to 65,535 bytes as a gzip member (RFC 1952) with one stored block.
    static func gzip(_ body: Data, checksum: UInt32? = nil) -> Data {
        let count = UInt16(body.count)
        var result = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1])
        result += bytes(UInt32(count)).prefix(2) + bytes(UInt32(~count)).prefix(2) + body
        return result + bytes(checksum ?? crc(body)) + bytes(UInt32(count))
    }

    private static func bytes(_ number: UInt32) -> Data {
        Data((0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
    }

    /// Returns the CRC-32 of RFC 1952.
    static func crc(_ data: Data) -> UInt32 {
        ~data.reduce(~UInt32(0)) { ($0 >> 8) ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }

    static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
}
