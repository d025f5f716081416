/// A line whose parts have styles, and whose width is known.
struct StyledText: Equatable {
    enum Style: String {
        case plain = ""
        case dimmed = "2"
        case good = "32"
        case bad = "31"
        case strong = "1"
    }

    struct Span: Equatable {
        var text: String
        var style: Style
    }

    private(set) var spans: [Span] = []

    init() {}

    init(_ text: String, _ style: Style = .plain) {
        spans = [Span(text: text, style: style)]
    }

    var width: Int { spans.reduce(0) { $0 + CellWidth.of($1.text) } }

    /// The text without styles.
    var text: String { spans.map(\.text).joined() }

    mutating func append(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty else { return }
        spans.append(Span(text: text, style: style))
    }

    /// The text for a terminal: with colours, if it may have them.
    func rendered(isColoured: Bool) -> String {
        guard isColoured else { return text }
        return spans.map { $0.style == .plain ? $0.text : "\u{1B}[\($0.style.rawValue)m\($0.text)\u{1B}[0m" }.joined()
    }
}
