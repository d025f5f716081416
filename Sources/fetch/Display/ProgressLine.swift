import Deferred

/// Draws the line of a file, or the total line. The columns depend on the terminal's width.
struct ProgressLine {
    private let width: Int
    private let nameWidth: Int

    /// The width of the bar, including its frame; 0 for no bar.
    private let barWidth: Int
    private let appearance: Appearance

    /// The columns after the bar: percentage, size, rate and time. Each is shown on lines of a minimum width, `from`.
    private static let columns = [
        (width: 4, from: 12), (width: 7, from: 60), (width: 9, from: 36), (width: 7, from: 48),
    ]

    /// - Parameters:
    ///   - columns: The terminal's width. The last column stays free, since some terminals wrap when it is written.
    ///   - longestName: The width of the longest file name, in cells.
    init(columns: Int, longestName: Int, appearance: Appearance) {
        let width = max(1, columns - 1)
        let rest = width - Self.columns.reduce(0) { $0 + (width >= $1.from ? $1.width + 1 : 0) }
        self.width = width
        self.appearance = appearance
        nameWidth = rest < 18 ? rest : min(max(longestName, 11), rest / 2, 40)
        barWidth = rest < 18 ? 0 : min(rest - nameWidth - 1, 60)
    }

    /// - Parameters:
    ///   - now: The current time, for the countdown to a retry.
    ///   - step: The number of redraws, which moves the bars of files of unknown length.
    func file(_ file: FileProgress, now: ContinuousClock.Instant = .now, step: Int = 0) -> StyledText {
        switch file.phase {
        case .waiting, .running, .saved:
            var line = StyledText(fitted(file.name))
            append(bar: file.fraction.map(filledCells) ?? movingCells(step), .good, to: &line)
            append(file.fraction, file.bytes.completed, file.rate, file.time, to: &line)
            return line
        case .stopped:
            return note(file.name, "stopped", .dimmed)
        case .failed(let reason):
            return note(file.name, "failed: \(reason)", .bad)
        case .backingOff(let reason, let until):
            return note(file.name, "again in \(ProgressText.duration(max(.zero, until - now))): \(reason)", .bad)
        }
    }

    func total(_ total: TotalProgress) -> StyledText {
        var line = StyledText(fitted("Total \(total.savedCount + total.failedCount)/\(total.fileCount)"), .strong)
        let fraction = total.bytes.fractionOfBytes
        append(bar: fraction.map(filledCells), .plain, to: &line)
        append(fraction, total.bytes.completed, total.bytes.throughput, total.remaining, to: &line)
        return line
    }

    /// Returns a line with a note on a file.
    func note(_ name: String, _ text: String, _ style: StyledText.Style) -> StyledText {
        var line = StyledText(fitted(name))
        line.append(FittedText.prefix(" " + PrintableText.escaping(text), width - nameWidth), style)
        return line
    }

    /// Returns a line of text, shortened to the line's width.
    func text(_ text: String, _ style: StyledText.Style = .plain) -> StyledText {
        StyledText(FittedText.prefix(text, width), style)
    }

    /// - Parameter cells: The filled cells; nil for no bar.
    private func append(bar cells: Range<Int>?, _ style: StyledText.Style, to line: inout StyledText) {
        guard barWidth > 0 else { return }
        guard let cells else { return line.append(String(repeating: " ", count: barWidth + 1)) }
        let (full, empty) = appearance.isUnicode ? ("█", "░") : ("#", ".")
        line.append(" [" + String(repeating: empty, count: cells.lowerBound), .dimmed)
        line.append(String(repeating: full, count: cells.count), style)
        line.append(String(repeating: empty, count: barWidth - 2 - cells.upperBound) + "]", .dimmed)
    }

    private func append(
        _ fraction: Double?,
        _ bytes: Int64,
        _ rate: Double?,
        _ time: Duration?,
        to line: inout StyledText
    ) {
        // Rounded down: 100 % means complete. 0.29 * 100 is less than 29.
        let percent = fraction.map { "\($0 < 1 ? min(Int($0 * 100 + 1e-9), 99) : 100)%" }
        let (rate, time) = (rate.map(ProgressText.rate), time.map(ProgressText.duration))
        for (text, column) in zip([percent, ProgressText.bytes(bytes), rate, time], Self.columns)
        where width >= column.from {
            line.append(" " + FittedText.padded(text ?? "", to: column.width, atStart: true))
        }
    }

    /// Returns the filled cells within a bar's frame: all of them only if the fraction is 1.
    private func filledCells(_ fraction: Double) -> Range<Int> {
        let all = max(0, barWidth - 2)
        return 0..<(fraction >= 1 ? all : max(0, min(all - 1, Int(Double(all) * max(0, fraction)))))
    }

    /// Returns the cells of a block that moves back and forth, for a file of unknown length.
    private func movingCells(_ step: Int) -> Range<Int> {
        let all = max(1, barWidth - 2)
        let block = max(1, all / 5)
        let room = max(1, all - block)
        let phase = step % (2 * room)
        let offset = min(all - block, phase <= room ? phase : 2 * room - phase)
        return offset..<offset + block
    }

    private func fitted(_ name: String) -> String {
        let printable = PrintableText.escaping(name)
        let short = FittedText.truncatingMiddle(printable, to: nameWidth, ellipsis: appearance.isUnicode ? "…" : "..")
        return FittedText.padded(short, to: nameWidth)
    }
}
