import Deferred
import Dispatch
import Foundation

/// The program, from its arguments to its exit code.
@MainActor
final class Program {
    private let appearance = Appearance(
        isTerminal: Terminal.size != nil,
        environment: ProcessInfo.processInfo.environment
    )
    private var demo: Demo?
    private var signals: [any DispatchSourceSignal] = []
    private var stopSignal: Int32?
    private var hasLostOutput = false

    /// - Parameter commandLine: The program's name and the arguments.
    func run(_ commandLine: [String]) {
        do {
            Terminal.reserveStandardFiles()
            // Otherwise, a file that becomes longer than the limit of the process would end it.
            signal(SIGXFSZ, SIG_IGN)
            // Otherwise, a reader that has gone would end it in the middle of the other downloads.
            signal(SIGPIPE, SIG_IGN)
            try download(Options(commandLine: commandLine))
        } catch {
            let exit = error as? ProgramExit ?? ProgramExit(text: "\(error)")
            let advice = exit.code == 2 ? "; see fetch --help" : ""
            let line = "fetch: \(PrintableText.escaping(exit.text))\(advice)\n"
            exit.code == 0 ? output(exit.text) : errors(line)
            end(exit.code)
        }
    }

    private func download(_ options: Options) throws {
        var wanted = options.urls.map { WantedFile(url: $0) }
        for path in options.inputs { wanted += try WantedFile.list(at: path) }
        if options.urls.isEmpty, options.inputs.isEmpty {
            // A proxy of the environment can't reach the server in this process.
            setenv("no_proxy", "127.0.0.1", 1)
            demo = try Demo()
            wanted = demo?.urls.map { WantedFile(url: $0) } ?? []
        }
        guard !wanted.isEmpty else { throw ProgramExit(text: "the list given with --input contains no URLs") }
        let temporary = FileManager.default.temporaryDirectory.appending(path: "fetch-\(UUID().uuidString)")
        let output = options.printsContents || options.wantsHeadOnly ? nil : options.output
        let single = options.urls.count == 1 && options.inputs.isEmpty ? output.flatMap(OutputDirectory.split) : nil
        let path = single?.directory ?? output ?? (demo == nil ? "." : temporary.path)
        let place = try options.savesFiles ? OutputDirectory(path: path) : OutputDirectory()
        let list = JobList(wanted, in: place, named: single?.name, checksum: options.checksum)
        if let cache = options.cache { _ = try OutputDirectory(path: cache, option: "--cache") }
        if let file = options.authorities, try !InputFile.read(file, atMost: 64 << 20).hasCertificate {
            throw ProgramExit.usage("\"\(file)\" after --cacert has no certificate; name a file in PEM format")
        }
        let template = try RequestTemplate(options)
        let display = makeDisplay(options)
        if demo != nil, display is BarDisplay {
            let place = PrintableText.escaping(path)
            display.output("No URLs: downloading four files from a server in this process to \(place)\n")
        }
        let run = DownloadRun(list, template, options: options, display: display, isRepeatable: demo == nil)
        listen(run, display, isResumable: options.savesFiles)
        run.start().upon(.mainActor) { failureCount in
            self.end(self.stopSignal.map { 128 + $0 } ?? (failureCount > 0 ? 1 : 0))
        }
    }

    private func makeDisplay(_ options: Options) -> Display {
        let isQuiet = options.isQuiet || options.printsContents
        let output: Display.Output = { if !isQuiet { self.output($0) } }
        let hasLines = options.isJSON || options.showsHead || options.wantsHeadOnly
        guard appearance.hasBars, !isQuiet, !hasLines else { return Display(output: output, errors: errors) }
        return BarDisplay(output: output, errors: errors, appearance: appearance) { Terminal.size ?? (80, 24) }
    }

    /// Writes to standard output; the first failure is reported, and makes the exit status 1 instead of 0.
    private func output(_ text: String) {
        guard let error = Terminal.write(text, to: STDOUT_FILENO), !hasLostOutput else { return }
        hasLostOutput = true
        errors("fetch: cannot write to standard output: \(String(cString: strerror(error)))\n")
    }

    private func errors(_ text: String) {
        Terminal.write(text, to: STDERR_FILENO)
    }

    /// - Parameter isResumable: False if a stop has nothing to keep, and thus need not wait for the reader of the contents.
    private func listen(_ run: DownloadRun, _ display: Display, isResumable: Bool) {
        signals = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            Terminal.onSignal(number) {
                guard self.stopSignal == nil, isResumable else {
                    display.suspend()
                    self.end(128 + number)
                }
                self.stopSignal = number
                run.stop()
            }
        }
        let pause = Terminal.onSignal(SIGTSTP) {
            display.suspend()
            // Returns when the process is continued.
            kill(getpid(), SIGSTOP)
            display.start()
        }
        if let pause { signals.append(pause) }
    }

    /// Ends the process at once, without handlers that run at exit.
    ///
    /// Threads of URLSession may still be inside OpenSSL, which an orderly exit destroys under them
    /// (https://github.com/swiftlang/swift-corelibs-foundation/issues/5469). All output is unbuffered.
    private func end(_ code: Int32) -> Never {
        _exit(code == 0 && hasLostOutput ? 1 : code)
    }
}

extension Data {
    fileprivate var hasCertificate: Bool { range(of: Data("-----BEGIN ".utf8)) != nil }
}
