/// An event of a `text/event-stream`: the WHATWG HTML standard, section 9.2.
public struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; `message` unless the server specifies one.
    public let type: String

    /// The payload. Several lines are joined with LF.
    public let data: String

    /// The last event ID that the server has sent, with this event or an earlier one; empty if none. A client that
    /// reconnects sends it as `Last-Event-ID`.
    public let lastEventID: String

    /// The time to wait before reconnecting, if the server has specified one so far.
    public let retry: Duration?
}

/// Parses lines into events.
package struct ServerSentEventParser {
    private var isFirstLine = true
    private var type = ""
    private var data = ""
    /// Becomes ``lastEventID`` with the event: one that breaks off has not been received.
    private var id: String
    package private(set) var lastEventID: String
    package private(set) var retry: Duration?

    /// - Parameter lastEventID: The last event ID of the stream that this one continues.
    package init(lastEventID: String = "") {
        self.lastEventID = lastEventID
        id = lastEventID
    }

    /// The number of bytes of the data of an event that is not complete.
    var pendingSize: Int { data.utf8.count }

    /// Returns the event that this line completes, if any. An event that is incomplete when the stream ends is dropped.
    package mutating func parse(_ line: String) -> ServerSentEvent? {
        var line = line[...]
        if isFirstLine {
            isFirstLine = false
            if line.unicodeScalars.first == "\u{FEFF}" {
                line = Substring(line.unicodeScalars.dropFirst())
            }
        }
        guard !line.isEmpty else { return dispatch() }
        let scalars = line.unicodeScalars
        // A line without a colon is a name alone. A comment begins with one, and has an empty name, as no field has.
        let name = scalars.prefix { $0 != ":" }
        var value = scalars[name.endIndex...].dropFirst()
        if value.first == " " {
            value = value.dropFirst()
        }
        set(String(name), String(value))
        return nil
    }

    private mutating func set(_ field: String, _ value: String) {
        switch field {
        case "event":
            type = value
        case "data":
            data += value + "\n"
        case "id" where !value.unicodeScalars.contains("\0"):
            id = value
        case "retry" where HTTPNumber.isValid(value):
            retry = .milliseconds(HTTPNumber.parse(value) ?? .max)
        default:
            break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (type, data) = ("", "") }
        lastEventID = id
        guard !data.isEmpty else { return nil }
        return ServerSentEvent(
            type: type.isEmpty ? "message" : type,
            data: String(data.unicodeScalars.dropLast()),
            lastEventID: lastEventID,
            retry: retry
        )
    }
}
