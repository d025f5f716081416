/// Text brought to a width in cells.
enum FittedText {
    /// `text` in at most `width` cells, if necessary with an ellipsis in place of its middle.
    ///
    /// The end of a name tells as much as its beginning.
    static func truncatingMiddle(_ text: String, to width: Int, ellipsis: String = "…") -> String {
        guard CellWidth.of(text) > width else { return text }
        let room = width - CellWidth.of(ellipsis)
        guard room > 0 else { return prefix(text, room + CellWidth.of(ellipsis)) }
        let tail = String(prefix(String(text.reversed()), room / 2).reversed())
        let head = prefix(text, room - CellWidth.of(tail))
        return head + ellipsis + tail
    }

    /// `text` in at most `width` cells, without what doesn't fit at the end.
    static func prefix(_ text: String, _ width: Int) -> String {
        var left = width
        return String(
            text.prefix {
                left -= CellWidth.of($0)
                return left >= 0
            }
        )
    }

    /// `text` with spaces after it up to `width` cells.
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - CellWidth.of(text)))
    }

    /// `text` with spaces before it up to `width` cells.
    static func rightAligned(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - CellWidth.of(text))) + text
    }
}
