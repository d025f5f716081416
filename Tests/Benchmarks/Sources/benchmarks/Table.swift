import Foundation

/// Columns of text, the first flush left and the others flush right.
struct Table {
    private var rows: [[String]]

    init(_ header: String...) {
        rows = [header]
    }

    /// Our times, those of peers and how many times ours they are, and what we are to the floor.
    init(_ operations: [Operation], peers: [Subject], floor: Subject, _ medians: Medians) {
        rows = [
            ["operation, ns", Subject.ours.rawValue] + peers.map(\.rawValue) + [floor.rawValue, "÷ \(floor.rawValue)"]
        ]
        for operation in operations {
            guard let times = medians[operation], let ours = times[.ours] else { continue }
            let others = peers.map { peer in times[peer].map { "\($0.short) (\(($0 / ours).short) ×)" } ?? "–" }
            let least = [times[floor]?.short ?? "–", times[floor].map { (ours / $0).short } ?? "–"]
            rows.append([operation.rawValue, ours.short] + others + least)
        }
    }

    var isEmpty: Bool { rows.count == 1 }

    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    /// The lines of a Markdown table.
    var lines: [String] {
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
    /// Three digits or so: enough for a time that varies by more.
    var short: String {
        String(format: self < 10 ? "%.2f" : self < 100 ? "%.1f" : "%.0f", self)
    }
}
