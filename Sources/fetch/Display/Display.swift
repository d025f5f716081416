import Deferred

/// Shows the progress of downloads. This base class prints a line for each finished file, without control sequences.
@MainActor
class Display {
    typealias Output = @MainActor (String) -> Void

    let output: Output
    let errors: Output

    init(output: @escaping Output, errors: @escaping Output) {
        self.output = output
        self.errors = errors
    }

    /// Prepares the terminal, at the beginning and after `suspend`.
    func start() {}

    /// Draws the running downloads. Called some ten times a second.
    func refresh(_ files: [FileProgress], _ total: TotalProgress) {}

    /// Shows that a download resumes after an existing part of the file.
    func resumed(_ file: FileProgress) {}

    /// Shows that a file's download has ended; its phase tells how.
    func ended(_ file: FileProgress) {
        guard file.phase == .saved else { return }
        var line = "\(PrintableText.escaping(file.path))  \(ProgressText.bytes(file.bytes.completed))"
        if let elapsed = file.elapsed { line += " in \(ProgressText.elapsed(elapsed))" }
        if let rate = file.rate { line += " (\(ProgressText.rate(rate)))" }
        if file.bytes.resumed > 0 { line += ", resumed after \(ProgressText.bytes(file.bytes.resumed))" }
        switch file.source {
        case .network: break
        case .cache: line += ", from the cache"
        case .confirmedCache: line += ", unchanged, from the cache"
        }
        output(line + "\n")
    }

    /// Prints a line to standard error.
    func report(_ line: String) {
        errors("fetch: \(line)\n")
    }

    /// Prepares the terminal for a stop of the process, for example by Ctrl-Z; `start` undoes this.
    func suspend() {}

    /// Shows the summary. No other method is called after this.
    func finish(_ total: TotalProgress, elapsed: Duration) {}
}
