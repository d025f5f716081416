import Foundation

/// Cuts bytes into lines, which end with LF, CR or CRLF wherever the pieces that they come in begin and end.
struct LineSplitter {
    /// The longest line, in bytes: a body without an end may also be a line without one.
    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var scanned = 0

    /// The last line ended with a CR, to which an LF that comes next belongs.
    private var skipsLineFeed = false

    init(limit: Int = 16 << 20) {
        self.limit = limit
    }

    mutating func append(_ data: Data) {
        if start > 0 {
            bytes.removeFirst(start)
            (start, scanned) = (0, scanned - start)
        }
        bytes += data
    }

    /// The next line that has ended, without its end.
    mutating func next() throws(URLClientError) -> String? {
        while scanned < bytes.count {
            let byte = bytes[scanned]
            scanned += 1
            if skipsLineFeed {
                skipsLineFeed = false
                if byte == UInt8(ascii: "\n") {
                    start = scanned
                    continue
                }
            }
            guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
            skipsLineFeed = byte == UInt8(ascii: "\r")
            let end = scanned - 1
            defer { start = scanned }
            guard end - start <= limit else { throw .bodyTooLarge(limit: Int64(limit)) }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        guard scanned - start <= limit else { throw .bodyTooLarge(limit: Int64(limit)) }
        return nil
    }

    /// What comes after the last end of a line, if anything does.
    mutating func rest() -> String? {
        defer { start = bytes.count }
        return start < bytes.count ? String(decoding: bytes[start...], as: UTF8.self) : nil
    }
}
