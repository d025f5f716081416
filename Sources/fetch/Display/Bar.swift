/// A bar of a given width.
enum Bar {
    /// How far a download is, with as much of the bar filled.
    static func filled(_ fraction: Double, width: Int, style: StyledText.Style, _ appearance: Appearance) -> StyledText
    {
        let inner = max(0, width - 2)
        // Full means complete.
        let cells = fraction >= 1 ? inner : min(inner - 1, Int(Double(inner) * max(0, fraction)))
        return framed(empty: max(0, inner - cells), before: 0, full: max(0, cells), style, appearance)
    }

    /// A block that moves to and fro, for a length that is not known.
    static func moving(step: Int, width: Int, style: StyledText.Style, _ appearance: Appearance) -> StyledText {
        let inner = max(0, width - 2)
        let block = min(inner, max(1, inner / 5))
        let room = inner - block
        guard room > 0 else { return framed(empty: 0, before: 0, full: block, style, appearance) }
        let phase = step % (2 * room)
        let offset = phase <= room ? phase : 2 * room - phase
        return framed(empty: room - offset, before: offset, full: block, style, appearance)
    }

    private static func framed(
        empty: Int,
        before: Int,
        full: Int,
        _ style: StyledText.Style,
        _ appearance: Appearance
    ) -> StyledText {
        let (fullCell, emptyCell) = appearance.isUnicode ? ("█", "░") : ("#", ".")
        var text = StyledText("[", .dimmed)
        text.append(String(repeating: emptyCell, count: before), .dimmed)
        text.append(String(repeating: fullCell, count: full), style)
        text.append(String(repeating: emptyCell, count: empty), .dimmed)
        text.append("]", .dimmed)
        return text
    }
}
