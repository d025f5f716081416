import Deferred

/// A line for each finished file, without control sequences.
@MainActor
final class PlainDisplay: Display {
    let refreshInterval: Duration? = nil
    private let output: any TextOutput
    private let errors: any TextOutput

    init(output: any TextOutput, errors: any TextOutput) {
        self.output = output
        self.errors = errors
    }

    func start() {}

    func refresh(_ files: [FileProgress], now: Duration) {}

    func ended(_ file: FileProgress, path: String) {
        guard file.phase == .saved else { return }
        var line = "\(PrintableText.escaping(path))  \(ProgressText.bytes(file.count.received))"
        if let elapsed = file.elapsed {
            line += " in \(ProgressText.elapsed(elapsed))"
        }
        if let rate = file.rate {
            line += " (\(ProgressText.rate(rate)))"
        }
        output.write(line + "\n")
    }

    func report(_ line: String) {
        errors.write("fetch: \(line)\n")
    }

    func suspend() {}

    func resume() {}

    func finish(_ files: [FileProgress], now: Duration) {}
}
