/// The lines at the bottom of a terminal that are drawn again and again.
///
/// Pure: it returns what has to be written. The cursor stands below the last line all the time.
struct Screen {
    static let hideCursor = "\u{1B}[?25l"
    static let showCursor = "\u{1B}[?25h"

    private static let eraseBelow = "\u{1B}[J"
    private static let eraseToLineEnd = "\u{1B}[K"

    private let isColoured: Bool
    private var lines: [StyledText] = []
    private var columns = 0

    init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    /// Replaces the lines, writing only those that have changed.
    ///
    /// - Parameters:
    ///   - above: Lines that scroll up and stay as they are.
    ///   - columns: The terminal's width now, which may be another one than last time.
    mutating func draw(_ new: [StyledText], above: [StyledText] = [], columns: Int) -> String {
        defer {
            lines = new
            self.columns = columns
        }
        let isSame = above.isEmpty && columns == self.columns && new.count == lines.count
        if isSame, new == lines { return "" }
        var result = upToFirstLine(columns: columns)
        if !isSame {
            result += Self.eraseBelow
        }
        for line in above {
            result += line.rendered(isColoured: isColoured) + "\n"
        }
        for (index, line) in new.enumerated() {
            if !isSame {
                result += line.rendered(isColoured: isColoured)
            } else if line != lines[index] {
                result += line.rendered(isColoured: isColoured) + Self.eraseToLineEnd
            }
            result += "\n"
        }
        return result
    }

    private func upToFirstLine(columns: Int) -> String {
        // A terminal that has become narrower has wrapped the lines.
        let rows = lines.reduce(0) { $0 + max(1, ($1.width + columns - 1) / max(1, columns)) }
        return rows > 0 ? "\u{1B}[\(rows)A\r" : "\r"
    }
}
