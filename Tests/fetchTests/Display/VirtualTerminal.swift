@testable import fetch

/// The screen of a terminal after some output, with only the control sequences that ``Screen`` uses.
struct VirtualTerminal {
    let columns: Int
    private(set) var isCursorVisible = true

    /// The control sequences that this terminal doesn't know.
    private(set) var unknownSequences: [String] = []

    private var rows: [[Character]] = [[]]
    private var row = 0
    private var column = 0

    init(columns: Int) {
        self.columns = columns
    }

    /// The rows without trailing spaces and trailing empty rows.
    var lines: [String] {
        var lines = rows.map { row in
            String(row.filter { $0 != Self.covered }.reversed().drop { $0 == " " }.reversed())
        }
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    /// The second cell of a wide character.
    private static let covered: Character = "\0"

    mutating func feed(_ output: String) {
        var rest = output[...]
        while let character = rest.popFirst() {
            switch character {
            case "\u{1B}": sequence(&rest)
            case "\n", "\r\n": newLine()
            case "\r": column = 0
            default: put(character)
            }
        }
    }

    private mutating func newLine() {
        row += 1
        column = 0
        if row == rows.count { rows.append([]) }
    }

    private mutating func put(_ character: Character) {
        let width = FittedText.width(String(character))
        if column + width > columns { newLine() }
        while rows[row].count < column + width { rows[row].append(" ") }
        rows[row][column] = character
        for cell in column + 1..<max(column + 1, column + width) { rows[row][cell] = Self.covered }
        column += width
    }

    private mutating func sequence(_ rest: inout Substring) {
        let body = rest.dropFirst().prefix { !$0.isLetter }
        let sequence = rest.prefix(body.count + 2)
        rest = rest.dropFirst(sequence.count)
        switch (sequence.last, String(body)) {
        case ("A", let count): row = max(0, row - (Int(count) ?? 1))
        case ("J", ""): rows = Array(rows[..<row]) + [Array(rows[row].prefix(column))]
        case ("K", ""): rows[row] = Array(rows[row].prefix(column))
        case ("m", _): break
        case ("l", "?25"): isCursorVisible = false
        case ("h", "?25"): isCursorVisible = true
        default: unknownSequences.append(String(sequence))
        }
    }
}
