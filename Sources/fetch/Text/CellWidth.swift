/// How many cells of a terminal's line a text takes.
///
/// Terminals differ on sequences of emoji. This is the width on those that draw each part by itself: the largest, so that a
/// line never wraps.
enum CellWidth {
    static func of(_ text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        character.unicodeScalars.reduce(0) { $0 + of($1) }
    }

    static func of(_ scalar: Unicode.Scalar) -> Int {
        guard !scalar.isASCII else { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format:
            // The selector of the coloured form widens the symbol before it.
            return scalar == "\u{FE0F}" ? 1 : 0
        default:
            if scalar.properties.isEmojiPresentation { return 2 }
            return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Blocks whose characters are East Asian Wide or Fullwidth: Unicode Standard Annex #11.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
        0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
        0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}
