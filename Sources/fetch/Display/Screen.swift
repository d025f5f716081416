/// The lines at the bottom of a terminal that are redrawn repeatedly.
///
/// It has no side effects: it returns the text to write. Between redraws, the cursor is below the last line.
struct Screen {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"

    let isColoured: Bool
    private var lines: [StyledText] = []
    private var columns = 0

    init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// Replaces the lines, and returns the text that redraws only those that have changed.
    ///
    /// - Parameters:
    ///   - above: Lines that scroll up and stay as they are.
    ///   - columns: The terminal's current width, which may have changed since the last call.
    mutating func draw(_ new: [StyledText], above: [StyledText] = [], columns: Int) -> String {
        let old = above.isEmpty && columns == self.columns && new.count == lines.count ? lines : nil
        if new == old { return "" }
        // If the terminal has become narrower, it has wrapped the lines.
        let rows = lines.reduce(0) { $0 + max(1, (FittedText.width($1.text) + columns - 1) / max(1, columns)) }
        var result = rows > 0 ? "\u{1B}[\(rows)A\r" : "\r"
        // Everything below is erased first, unless the lines are replaced one by one.
        if old == nil { result += "\u{1B}[J" }
        for (index, line) in (above + new).enumerated() {
            if old?[index] != line {
                result += (isColoured ? line.coloured : line.text) + (old == nil ? "" : "\u{1B}[K")
            }
            result += "\n"
        }
        (lines, self.columns) = (new, columns)
        return result
    }
}
