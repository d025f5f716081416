import Deferred

/// Shows a bar for each running download, a total line, and above them a line for each download that has ended.
final class BarDisplay: Display {
    private let size: () -> (columns: Int, rows: Int)
    private let appearance: Appearance
    private var screen: Screen
    private var step = 0
    private var longestName = 0

    /// The new permanent lines, and lines for standard error, since the last redraw.
    private var news: [(ProgressLine) -> StyledText] = []
    private var reports: [String] = []

    init(
        output: @escaping Output,
        errors: @escaping Output,
        appearance: Appearance,
        size: @escaping () -> (columns: Int, rows: Int)
    ) {
        self.appearance = appearance
        self.size = size
        screen = Screen(isColoured: appearance.isColoured)
        super.init(output: output, errors: errors)
    }

    override func start() {
        // After a suspension, the lines are redrawn below the shell's output, which stays.
        screen = Screen(isColoured: appearance.isColoured)
        output(Screen.hideCursor)
    }

    override func resumed(_ file: FileProgress) {
        news.append { $0.note(file.name, "resumed after \(ProgressText.bytes(file.bytes.resumed))", .dimmed) }
    }

    override func ended(_ file: FileProgress) {
        news.append { $0.file(file) }
    }

    override func report(_ line: String) {
        reports.append(line)
    }

    override func refresh(_ files: [FileProgress], _ total: TotalProgress) {
        step += 1
        longestName = files.lazy.map { FittedText.width(PrintableText.escaping($0.name)) }.max() ?? 0
        let (columns, rows) = size()
        let line = ProgressLine(columns: columns, longestName: longestName, appearance: appearance)
        var live = files.filter { !$0.hasEnded && $0.phase != .waiting }.map { line.file($0, step: step) }
        // Together with the total line and the cursor's line, they have to fit on the screen.
        let room = max(0, rows - 3)
        if rows < 3 {
            live = []
        } else if live.count > room {
            live = live.prefix(room) + [line.text("and \(live.count - room) more", .dimmed)]
        }
        draw(live + [line.total(total)], columns)
    }

    override func finish(_ total: TotalProgress, elapsed: Duration) {
        let fetched = total.bytes.completed - total.bytes.resumed
        let failed = total.failedCount > 0 ? ", \(total.failedCount) failed" : ""
        let rate = ProgressText.rate(total.bytes.rate(over: elapsed))
        let saved = "\(total.savedCount) of \(total.fileCount) files saved"
        let text = "\(saved)\(failed), \(ProgressText.bytes(fetched)) in \(ProgressText.elapsed(elapsed)) (\(rate))"
        news.append { $0.text(text, .strong) }
        draw([], size().columns)
        output(Screen.showCursor)
    }

    override func suspend() {
        output(Screen.showCursor)
    }

    private func draw(_ live: [StyledText], _ columns: Int) {
        let line = ProgressLine(columns: columns, longestName: longestName, appearance: appearance)
        let above = news.map { $0(line) }
        news = []
        guard !reports.isEmpty else { return output(screen.draw(live, above: above, columns: columns)) }
        output(screen.draw([], above: above, columns: columns))
        errors(reports.map { "fetch: \($0)\n" }.joined())
        reports = []
        output(screen.draw(live, columns: columns))
    }
}
