import DeferredTesting
import Foundation

/// The bytes of one answer, in parts that a generator can corrupt separately, with the manner of sending them.
struct FuzzMessage {
    enum End {
        case keep, close, reset, stall
    }

    enum Delivery {
        case whole
        case pieces([Int])

        /// Apart within and after each of the first ends of lines, those of chunks included.
        case lines
        case drip(Int)
    }

    /// Complete 1xx heads.
    var interim: [Data] = []
    var statusLine = Data("HTTP/1.1 200 OK".utf8)
    var lines: [Data] = []
    var lineEnd = Data("\r\n".utf8)

    /// The body, framed and coded.
    var body = Data()

    /// Bytes after the end of the body.
    var junk = Data()
    var end = End.keep
    var delivery = Delivery.whole

    /// The number of bytes after which the message is cut; `nil` to send all of it.
    var cut: Int?

    init() {}

    mutating func add(_ line: String) { lines.append(Data(line.utf8)) }

    mutating func removeLines(_ name: String) {
        lines.removeAll { String(decoding: $0, as: UTF8.self).lowercased().hasPrefix(name.lowercased() + ":") }
    }

    var head: Data {
        var result = interim.reduce(Data(), +) + statusLine + lineEnd
        for line in lines { result += line + lineEnd }
        return result + lineEnd
    }

    var bytes: Data {
        let all = head + body + junk
        return cut.map { all.prefix($0) } ?? all
    }

    var script: LoopbackServer.Script {
        let bytes = bytes
        var steps: [LoopbackServer.Script.Step] = []
        switch delivery {
        case .whole:
            steps.append(.send(.bytes(bytes)))
        case .drip(let size):
            // A long message would take longer than the deadline.
            let size = max(size, bytes.count / 400)
            steps.append(.drip(.bytes(bytes), size: size, every: .milliseconds(1)))
        case .pieces(let sizes):
            var rest = bytes[...]
            for size in sizes {
                steps += [.send(.bytes(Data(rest.prefix(size)))), .pause(.milliseconds(1))]
                rest = rest.dropFirst(size)
            }
            steps.append(.send(.bytes(Data(rest))))
        case .lines:
            var start = bytes.startIndex
            for index in bytes.indices.dropLast().filter({ [0x0D, 0x0A].contains(bytes[$0]) }).prefix(30) {
                steps += [.send(.bytes(Data(bytes[start...index]))), .pause(.milliseconds(1))]
                start = index + 1
            }
            steps.append(.send(.bytes(Data(bytes[start...]))))
        }
        switch end {
        case .keep: break
        case .close: steps.append(.close)
        case .reset: steps.append(.reset)
        case .stall: steps.append(.stall)
        }
        return LoopbackServer.Script(steps)
    }

    /// The message on one line, with escapes for bytes that can't be printed.
    var printable: String {
        let shown = bytes.prefix(1_500).map { byte in
            switch byte {
            case 0x0D: "\\r"
            case 0x0A: "\\n"
            case 0x20..<0x7F: String(UnicodeScalar(byte))
            default: "\\x" + String(byte, radix: 16)
            }
        }
        let more = bytes.count > 1_500 ? " … \(bytes.count) bytes" : ""
        return "\(shown.joined())\(more) [\(delivery), then \(end)]"
    }
}
