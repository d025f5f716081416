import Deferred

/// A bar for each file that is being downloaded, a line for all, and above them what has ended.
@MainActor
final class BarDisplay: Display {
    let refreshInterval: Duration? = .milliseconds(100)
    private let output: any TextOutput
    private let errors: any TextOutput
    private let size: () -> Terminal.Size
    private let appearance: Appearance
    private var screen: Screen
    private var meter = RateMeter()
    private var step = 0

    /// Files that ended since the last redraw.
    private var ended: [FileProgress] = []

    /// Lines for standard error, since the last redraw.
    private var reports: [String] = []

    init(
        output: any TextOutput,
        errors: any TextOutput,
        appearance: Appearance,
        size: @escaping () -> Terminal.Size
    ) {
        self.output = output
        self.errors = errors
        self.appearance = appearance
        self.size = size
        screen = Screen(isColoured: appearance.isColoured)
    }

    func start() {
        output.write(Screen.hideCursor)
    }

    func ended(_ file: FileProgress, path: String) {
        ended.append(file)
    }

    func report(_ line: String) {
        reports.append(line)
    }

    func refresh(_ files: [FileProgress], now: Duration) {
        step += 1
        let total = TotalProgress(files)
        meter.record(total.fetched, at: now)
        let size = size()
        let line = lines(for: files, columns: size.columns)
        var live = files.filter(\.isShown).map { line.file($0, now: now, step: step) }
        // Together with the line for all and the cursor's own, they have to fit on the screen.
        let room = max(0, size.rows - 3)
        if live.count > room {
            let hidden = live.count - room
            live = live.prefix(room) + [line.text("and \(hidden) more", .dimmed)]
        }
        live.append(line.total(TotalProgress(files, rate: meter.rate)))
        draw(live, line, columns: size.columns)
    }

    func finish(_ files: [FileProgress], now: Duration) {
        let size = size()
        let line = lines(for: files, columns: size.columns)
        let total = TotalProgress(files)
        var text = "\(total.savedCount) of \(total.fileCount) files saved"
        if total.failedCount > 0 {
            text += ", \(total.failedCount) failed"
        }
        let seconds = max(now / .seconds(1), 0.001)
        text += ", \(ProgressText.bytes(total.fetched)) in \(ProgressText.elapsed(now))"
        text += " (\(ProgressText.rate(Double(total.fetched) / seconds)))"
        let above = ended.map { line.file($0) }
        output.write(screen.draw([line.text(text, .strong)], above: above, columns: size.columns) + Screen.showCursor)
        writeReports()
    }

    func suspend() {
        output.write(Screen.showCursor)
    }

    func resume() {
        // What the shell wrote in the meantime stays: the lines are drawn anew, below it.
        screen = Screen(isColoured: appearance.isColoured)
        output.write(Screen.hideCursor)
    }

    private func draw(_ live: [StyledText], _ line: ProgressLine, columns: Int) {
        let above = ended.map { line.file($0) }
        ended = []
        guard !reports.isEmpty else {
            return output.write(screen.draw(live, above: above, columns: columns))
        }
        output.write(screen.draw([], above: above, columns: columns))
        writeReports()
        output.write(screen.draw(live, columns: columns))
    }

    private func writeReports() {
        errors.write(reports.map { "fetch: \($0)\n" }.joined())
        reports = []
    }

    private func lines(for files: [FileProgress], columns: Int) -> ProgressLine {
        let longest = files.map { CellWidth.of(PrintableText.escaping($0.name)) }.max() ?? 0
        return ProgressLine(layout: LineLayout(columns: columns, longestName: longest), appearance: appearance)
    }
}

extension FileProgress {
    /// Whether it has a line among those that are drawn again and again.
    fileprivate var isShown: Bool { !hasEnded && phase != .waiting }
}
