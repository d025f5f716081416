internal import DeferredNetworking
internal import Foundation

/// A position in texts that stand one after the other in memory.
///
/// Each has its length before it: a byte, or 255 and four more. Of those that most responses have, there is only a number.
/// In an array, a text takes 16 bytes, and 32 more of its own if it is longer than 15.
struct PackedTexts {
    private(set) var position: UnsafeMutableRawPointer

    init(at position: UnsafeMutableRawPointer) { self.position = position }

    private static let commonTexts: [String] = {
        let names = [
            "Accept-Ranges", "Access-Control-Allow-Origin", "Alt-Svc", "Cache-Control", "Content-Disposition",
            "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range",
            "Content-Security-Policy", "Content-Type", "Date", "ETag", "Expires", "Last-Modified", "Link", "Location",
            "Pragma", "Referrer-Policy", "Server", "Set-Cookie", "Strict-Transport-Security", "Vary", "Via", "X-Cache",
            "X-Content-Type-Options", "X-Frame-Options", "X-Request-Id",
        ]
        let values = [
            "application/json", "application/json; charset=utf-8", "application/octet-stream", "image/jpeg",
            "image/png", "image/svg+xml", "image/webp", "public, max-age=31536000, immutable", "text/css",
            "text/html; charset=utf-8", "text/plain; charset=utf-8",
        ]
        // HTTP/2 has its names in lower case.
        return names + names.map { $0.lowercased() } + values
    }()

    private static let numbers = Dictionary(uniqueKeysWithValues: commonTexts.enumerated().map { ($1, $0) })

    /// Texts of other bytes may be equal too: U+037E is the same as a semicolon.
    private static func number(of text: String) -> Int? {
        numbers[text].flatMap { commonTexts[$0].hasBytes(of: text) ? $0 : nil }
    }

    /// From here on, the first byte is no length, but this plus the number of a common text.
    private static let commonStart = 128
    private static let isLong = 255

    /// The number of bytes that a text takes.
    static func size(of text: String) -> Int {
        if number(of: text) != nil { return 1 }
        let count = text.utf8.count
        return count < commonStart ? count + 1 : count + 5
    }

    mutating func append(_ text: String) {
        if let number = Self.number(of: text) { return append(byte: Self.commonStart + number) }
        var text = text
        text.withUTF8 { bytes in
            if bytes.count < Self.commonStart {
                append(byte: bytes.count)
            } else {
                append(byte: Self.isLong)
                position.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
                position += 4
            }
            let free = UnsafeMutableRawBufferPointer(start: position, count: bytes.count)
            free.copyMemory(from: UnsafeRawBufferPointer(bytes))
            position += bytes.count
        }
    }

    private mutating func append(byte: Int) {
        position.storeBytes(of: UInt8(byte), as: UInt8.self)
        position += 1
    }

    private enum Next {
        case common(Int)
        case bytes(UnsafeRawBufferPointer)
    }

    private mutating func next() -> Next {
        var count = Int(position.load(as: UInt8.self))
        position += 1
        if count == Self.isLong {
            count = Int(position.loadUnaligned(as: UInt32.self))
            position += 4
        } else if count >= Self.commonStart {
            return .common(count - Self.commonStart)
        }
        defer { position += count }
        return .bytes(UnsafeRawBufferPointer(start: position, count: count))
    }

    mutating func nextText() -> String {
        switch next() {
        case .common(let number): Self.commonTexts[number]
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns whether the next text has the same bytes as another one.
    mutating func nextIs(_ text: String) -> Bool {
        switch next() {
        case .common(let number):
            return Self.commonTexts[number].hasBytes(of: text)
        case .bytes(let bytes):
            guard bytes.count == text.utf8.count else { return false }
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return true }
            var text = text
            return text.withUTF8 { other in other.baseAddress.map { memcmp(start, $0, bytes.count) == 0 } ?? false }
        }
    }
}
