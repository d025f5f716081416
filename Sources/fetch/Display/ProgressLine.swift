import Deferred

/// Draws one line: a file's, or the one for all.
struct ProgressLine {
    let layout: LineLayout
    let appearance: Appearance

    /// - Parameters:
    ///   - now: The program's time, for counting down to a retry.
    ///   - step: Counts redraws, and so moves the bars of files whose length is not known.
    func file(_ file: FileProgress, now: Duration = .zero, step: Int = 0) -> StyledText {
        switch file.phase {
        case .waiting, .running:
            return columns(file, style: .good, time: file.remaining, step: step)
        case .saved:
            return columns(file, style: .good, time: file.elapsed, step: step)
        case .stopped:
            return note(file.name, "stopped", .dimmed)
        case .failed(let reason):
            return note(file.name, "failed: \(reason)", .bad)
        case .backingOff(let reason, let until):
            return note(file.name, "again in \(ProgressText.duration(max(.zero, until - now))): \(reason)", .bad)
        }
    }

    func total(_ total: TotalProgress) -> StyledText {
        columns(
            "Total \(total.endedCount)/\(total.fileCount)",
            nameStyle: .strong,
            bar: total.fraction.map { Bar.filled($0, width: layout.bar, style: .plain, appearance) },
            fraction: total.fraction,
            received: total.received,
            rate: total.rate,
            time: total.remaining
        )
    }

    /// Shortened to the line's width.
    func text(_ text: String, _ style: StyledText.Style = .plain) -> StyledText {
        StyledText(FittedText.prefix(text, layout.width), style)
    }

    private func columns(
        _ file: FileProgress,
        style: StyledText.Style,
        time: Duration?,
        step: Int
    ) -> StyledText {
        let bar =
            file.fraction.map { Bar.filled($0, width: layout.bar, style: style, appearance) }
            ?? Bar.moving(step: step, width: layout.bar, style: style, appearance)
        return columns(
            file.name,
            bar: bar,
            fraction: file.fraction,
            received: file.count.received,
            rate: file.rate,
            time: time
        )
    }

    private func columns(
        _ name: String,
        nameStyle: StyledText.Style = .plain,
        bar: StyledText?,
        fraction: Double?,
        received: Int64,
        rate: Double?,
        time: Duration?
    ) -> StyledText {
        var line = StyledText(fitted(name), nameStyle)
        if layout.bar > 0 {
            line.append(" ")
            for span in bar?.spans ?? [.init(text: String(repeating: " ", count: layout.bar), style: .plain)] {
                line.append(span.text, span.style)
            }
        }
        // Rounded down: 100 % means complete.
        append(fraction.map { "\(Int($0 * 100))%" }, LineLayout.percentWidth, if: layout.showsPercent, to: &line)
        append(ProgressText.bytes(received), LineLayout.sizeWidth, if: layout.showsSize, to: &line)
        append(rate.map(ProgressText.rate), LineLayout.rateWidth, if: layout.showsRate, to: &line)
        append(time.map(ProgressText.duration), LineLayout.timeWidth, if: layout.showsTime, to: &line)
        return line
    }

    private func append(_ text: String?, _ width: Int, if isShown: Bool, to line: inout StyledText) {
        guard isShown else { return }
        line.append(" " + FittedText.rightAligned(text ?? "", to: width))
    }

    private func note(_ name: String, _ text: String, _ style: StyledText.Style) -> StyledText {
        var line = StyledText(fitted(name))
        let room = layout.width - layout.name - 1
        guard room > 0 else { return line }
        line.append(" " + FittedText.prefix(PrintableText.escaping(text), room), style)
        return line
    }

    private func fitted(_ name: String) -> String {
        let printable = PrintableText.escaping(name)
        let short = FittedText.truncatingMiddle(printable, to: layout.name, ellipsis: appearance.ellipsis)
        return FittedText.padded(short, to: layout.name)
    }
}
