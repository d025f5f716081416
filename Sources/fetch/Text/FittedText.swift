/// Fits text to a width in the cells of a terminal.
///
/// Terminals differ in the width of emoji sequences. The widths here are those of terminals that draw each part
/// separately: the largest ones, so that a line never wraps.
enum FittedText {
    /// Returns the number of cells that `text` takes.
    static func width(_ text: some StringProtocol) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        guard !scalar.isASCII else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format:
            // The emoji variation selector widens the preceding symbol.
            return scalar == "\u{FE0F}" ? 1 : 0
        default:
            return scalar.properties.isEmojiPresentation || wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Blocks whose characters are East Asian Wide or Fullwidth: Unicode Standard Annex #11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]

    /// Returns `text` in at most `limit` cells, if necessary with an ellipsis in its middle: names differ at both ends.
    static func truncatingMiddle(_ text: String, to limit: Int, ellipsis: String = "…") -> String {
        let room = limit - width(ellipsis)
        guard width(text) > limit, room > 0 else { return prefix(text, limit) }
        let tail = String(prefix(String(text.reversed()), room / 2).reversed())
        return prefix(text, room - width(tail)) + ellipsis + tail
    }

    /// Returns the longest prefix of `text` that fits into `limit` cells, or into `limit` units of another measure.
    static func prefix(_ text: some StringProtocol, _ limit: Int, measure: (String) -> Int = { width($0) }) -> String {
        var left = limit
        let fitting = text.prefix { character in
            left -= measure(String(character))
            return left >= 0
        }
        return String(fitting)
    }

    /// Returns `text`, padded with spaces to `limit` cells at the end, or at the start.
    static func padded(_ text: String, to limit: Int, atStart: Bool = false) -> String {
        let spaces = String(repeating: " ", count: max(0, limit - width(text)))
        return atStart ? spaces + text : text + spaces
    }
}
