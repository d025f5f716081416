import Deferred

/// Shows how downloads go: a line for each finished file, without control sequences.
@MainActor
class Display {
    typealias Output = @MainActor (String) -> Void

    let output: Output
    let errors: Output

    init(output: @escaping Output, errors: @escaping Output) {
        self.output = output
        self.errors = errors
    }

    func start() {}

    /// Draws what is under way, some ten times a second.
    func refresh(_ files: [FileProgress], rate: Double?, now: ContinuousClock.Instant) {}

    /// A part of the file was there.
    func resumed(_ file: FileProgress) {}

    /// A file's download has ended, in one of the phases that mean this.
    func ended(_ file: FileProgress) {
        guard file.phase == .saved else { return }
        var line = "\(PrintableText.escaping(file.path))  \(ProgressText.bytes(file.bytes.completed))"
        if let elapsed = file.elapsed { line += " in \(ProgressText.elapsed(elapsed))" }
        if let rate = file.rate { line += " (\(ProgressText.rate(rate)))" }
        if file.bytes.resumed > 0 { line += ", resumed after \(ProgressText.bytes(file.bytes.resumed))" }
        output(line + "\n")
    }

    /// A line for standard error.
    func report(_ line: String) {
        errors("fetch: \(line)\n")
    }

    /// The process is about to be stopped, as by Ctrl-Z, or to go on.
    func suspend() {}
    func resume() {}

    /// The end. Nothing is called after this.
    func finish(_ total: TotalProgress, elapsed: Duration) {}
}
