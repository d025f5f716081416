import DeferredTesting
import Foundation

/// The program, from its arguments to its exit code.
@MainActor
final class Program {
    private let appearance = Appearance(
        isTerminal: Terminal.standardOutput.isTerminal,
        environment: ProcessInfo.processInfo.environment
    )
    private var demo: Demo?
    private var stopSignals: SignalListener?
    private var suspendSignals: SignalListener?
    private var signalNumber: Int32?

    func run(_ arguments: [String]) {
        do throws(UsageError) {
            switch try Options.parse(arguments) {
            case .help:
                StandardStream.output.write(HelpText.text)
                ProcessExit.now(ExitCode.success)
            case .download(let options):
                download(options)
            }
        } catch {
            end("\(error); see fetch --help", ExitCode.usage)
        }
    }

    private func download(_ options: Options) {
        var options = options
        let directory: OutputDirectory
        do {
            if options.urls.isEmpty {
                let demo = try Demo()
                options.urls = demo.urls
                self.demo = demo
            }
            directory = try Self.directory(options.output, isDemo: demo != nil)
        } catch {
            end("\(error)", ExitCode.failure)
        }
        if demo != nil, appearance.hasBars {
            let path = PrintableText.escaping(directory.shownPath)
            StandardStream.output.write("No URLs: downloading four files from a server in this process to \(path)\n")
        }
        let starter = DownloadStarter(maximum: options.maximum)
        let display = makeDisplay()
        let run = DownloadRun(
            JobList(options.urls, in: directory),
            maximum: options.maximum,
            display: display,
            timers: DispatchTimers(),
            begin: { starter.begin($0, counting: $1) },
            completion: { self.completed($0) }
        )
        stopSignals = SignalListener([SIGINT, SIGTERM, SIGHUP]) { self.received($0, run) }
        suspendSignals = SignalListener([SIGTSTP]) { _ in
            display.suspend()
            // Returns when the process is continued.
            kill(getpid(), SIGSTOP)
            display.resume()
        }
        run.start()
    }

    private func received(_ number: Int32, _ run: DownloadRun) {
        guard signalNumber == nil else {
            if appearance.hasBars {
                StandardStream.output.write(Screen.showCursor)
            }
            ProcessExit.now(ExitCode.stopped(by: number))
        }
        signalNumber = number
        run.stop()
    }

    private func completed(_ run: DownloadRun) {
        demo?.stop()
        if let signalNumber, run.isStopping {
            ProcessExit.now(ExitCode.stopped(by: signalNumber))
        }
        ProcessExit.now(run.failureCount > 0 ? ExitCode.failure : ExitCode.success)
    }

    private func makeDisplay() -> any Display {
        let (output, errors) = (StandardStream.output, StandardStream.error)
        guard appearance.hasBars else { return PlainDisplay(output: output, errors: errors) }
        return BarDisplay(output: output, errors: errors, appearance: appearance) { Terminal.standardOutput.size }
    }

    private static func directory(_ path: String?, isDemo: Bool) throws -> OutputDirectory {
        if let path { return try OutputDirectory(path: path) }
        return isDemo ? try OutputDirectory.temporary() : try OutputDirectory(path: ".")
    }

    private func end(_ line: String, _ code: Int32) -> Never {
        StandardStream.error.write("fetch: \(PrintableText.escaping(line))\n")
        ProcessExit.now(code)
    }
}
