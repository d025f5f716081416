import Foundation

/// A table of text, with the first column aligned left and the others aligned right.
public struct Table {
    private var rows: [[String]]

    /// Creates a table without rows.
    public init(_ header: [String]) {
        rows = [header]
    }

    /// A Boolean value that indicates whether there is only the header.
    public var isEmpty: Bool { rows.count == 1 }

    /// Adds a row with as many cells as the header.
    public mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The lines of a Markdown table.
    public var lines: [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }
            return "| " + cells.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            column == 0 ? String(repeating: "-", count: width) : String(repeating: "-", count: width - 1) + ":"
        }
        lines.insert("| " + rule.joined(separator: " | ") + " |", at: 1)
        return lines
    }
}

extension Double {
    /// The number with about three digits: enough for a time that varies by more.
    public var short: String {
        String(format: self < 10 ? "%.2f" : self < 100 ? "%.1f" : "%.0f", self)
    }
}
