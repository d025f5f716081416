/// A line of text whose parts have styles.
struct StyledText: Equatable {
    /// A style; the raw value is the parameter of the control sequence.
    enum Style: String {
        case plain = ""
        case dimmed = "2"
        case good = "32"
        case bad = "31"
        case strong = "1"
    }

    /// The text without styles, and with control sequences for a terminal with colours.
    private(set) var text = ""
    private(set) var coloured = ""

    init(_ text: String, _ style: Style = .plain) {
        append(text, style)
    }

    mutating func append(_ new: String, _ style: Style = .plain) {
        text += new
        coloured += style == .plain || new.isEmpty ? new : "\u{1B}[\(style.rawValue)m\(new)\u{1B}[0m"
    }
}
