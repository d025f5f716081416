/// An event of a stream of the type `text/event-stream`: the WHATWG's HTML standard, section 9.2.
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` unless the server says.
    public let type: String

    /// What it says. Several lines are joined with LF.
    public let data: String

    /// The last identifier that the server has given, with this event or one before; empty if none. A client that connects
    /// again sends it as `Last-Event-ID`.
    public let lastEventID: String

    /// How long the server asks to wait before connecting again, if it has asked by now.
    public let retry: Duration?
}

/// Makes events of lines.
struct ServerSentEventParser {
    private var isFirstLine = true
    private var type = ""
    private var data = ""
    private var lastEventID = ""
    private var retry: Duration?

    /// The event that the line ends, if it ends one. One that the stream breaks off in is none.
    mutating func parse(_ line: String) -> ServerSentEvent? {
        var line = line[...]
        if isFirstLine {
            isFirstLine = false
            if line.unicodeScalars.first == "\u{FEFF}" {
                line = Substring(line.unicodeScalars.dropFirst())
            }
        }
        guard !line.isEmpty else { return dispatch() }
        let scalars = line.unicodeScalars
        guard let colon = scalars.firstIndex(of: ":") else {
            set(String(line), "")
            return nil
        }
        // A line that begins with a colon is a comment.
        if colon > scalars.startIndex {
            var value = scalars[scalars.index(after: colon)...]
            if value.first == " " {
                value = value.dropFirst()
            }
            set(String(scalars[..<colon]), String(value))
        }
        return nil
    }

    private mutating func set(_ field: String, _ value: String) {
        switch field {
        case "event":
            type = value
        case "data":
            data += value + "\n"
        case "id" where !value.unicodeScalars.contains("\0"):
            lastEventID = value
        case "retry" where !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }:
            retry = .milliseconds(HTTPNumber.parse(value) ?? .max)
        default:
            break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data) = ("", "") }
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(data.unicodeScalars.dropLast()),
            lastEventID: lastEventID,
            retry: retry
        )
    }
}
