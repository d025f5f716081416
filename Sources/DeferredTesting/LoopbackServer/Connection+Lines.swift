import Foundation

extension Connection {
    /// The size of the largest request head that is accepted, in bytes.
    private static let headLimit = 64 * 1_024

    /// Reads the next request's head; `nil` when the peer closes instead of sending one.
    func readHead() throws -> RequestHead? {
        var bytes = Data()
        var lines: [String] = []
        while true {
            guard let line = try readLine(limit: Self.headLimit - bytes.count, or: .headTooLarge) else {
                if bytes.isEmpty { return nil }
                throw Disconnection.peerClosed
            }
            // RFC 9112, section 2.2: empty lines before the request line are ignored.
            if line.text.isEmpty, lines.isEmpty { continue }
            bytes += line.bytes
            if line.text.isEmpty { return try RequestHead(lines: lines, bytes: bytes) }
            lines.append(line.text)
        }
    }

    /// Reads up to the next line feed; returns `nil` when the stream ends without one, and throws `error` for a longer
    /// line. The text excludes the line ending.
    func readLine(limit: Int, or error: RequestError) throws -> (text: String, bytes: [UInt8])? {
        var searched = 0
        while true {
            if let end = buffered.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
                let bytes = Array(buffered[...end])
                guard bytes.count <= limit else { throw error }
                consume(bytes.count)
                let text = bytes.dropLast(bytes.dropLast().last == UInt8(ascii: "\r") ? 2 : 1)
                return (String(decoding: text, as: UTF8.self), bytes)
            }
            searched = buffered.count
            guard searched < limit else { throw error }
            guard try fill() else { return nil }
        }
    }

    /// Reads the bytes that are available, at least one and at most `limit`.
    func readSome(atMost limit: Int) throws -> Data {
        if buffered.isEmpty, try !fill() { throw Disconnection.peerClosed }
        let bytes = Data(buffered.prefix(limit))
        consume(bytes.count)
        return bytes
    }
}

extension RequestError {
    fileprivate static let headTooLarge = RequestError(status: 431, explanation: "The head is larger than 64 KiB.")
}
