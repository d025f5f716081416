package import Foundation

/// Splits bytes into lines that end with LF, CR or CRLF, also across the boundaries of the chunks.
package struct LineSplitter {
    /// The maximum length of a line, in bytes: an endless body may also be one endless line.
    private let limit: Int
    private var bytes: [UInt8] = []
    private var start = 0
    private var scanned = 0

    /// True after a line that ended with CR: an LF that comes next belongs to its end.
    private var skipsLineFeed = false

    package init(limit: Int) {
        self.limit = max(0, limit)
    }

    package mutating func append(_ data: Data) {
        if start > 0 {
            bytes.removeFirst(start)
            (start, scanned) = (0, scanned - start)
        }
        bytes += data
    }

    /// Returns the next complete line without its terminator, or nil if there is none yet.
    package mutating func next() throws(URLClientError) -> String? {
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
            guard end - start <= limit else { throw .lineTooLong(limit: limit) }
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
        guard scanned - start <= limit else { throw .lineTooLong(limit: limit) }
        return nil
    }

    /// Returns the text after the last line terminator, or nil if there is none.
    package mutating func rest() -> String? {
        defer { start = bytes.count }
        return start < bytes.count ? String(decoding: bytes[start...], as: UTF8.self) : nil
    }
}
