import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Runs all downloads of one run of the program, and shows them on the display.
///
/// All of them are started at once: the client limits the number that run concurrently, and retries temporary failures.
/// Events wait for the next frame, so they are handled on the main actor, and at most once a frame.
@MainActor
final class DownloadRun {
    private let list: JobList
    private let template: RequestTemplate
    private let options: Options
    private let display: Display
    private let hasProxy: Bool
    /// True if the same command downloads the same files into the same directory.
    private let isRepeatable: Bool
    private let client: URLClient
    private let frames = Frames()
    private let finished = Deferred<Int>()
    private let beginning = ContinuousClock.now
    private var files: [FileProgress]
    private var rate: Double?
    private var isStopping = false
    private let cache: Cache?
    private var total: TotalProgress { TotalProgress(files, rejectedCount: list.rejections.count, rate: rate) }

    init(_ list: JobList, _ template: RequestTemplate, options: Options, display: Display, isRepeatable: Bool) {
        self.list = list
        self.template = template
        self.options = options
        self.display = display
        self.isRepeatable = isRepeatable
        hasProxy = options.mayHaveProxy()
        files = list.jobs.map { FileProgress(name: $0.name, path: $0.shownPath) }
        var configuration = URLClient.Configuration(options)
        cache = options.cache.map { path in
            Cache(.disk(at: URL(literalPath: path, directoryHint: .isDirectory), capacity: 4 << 30))
        }
        configuration.cache = cache
        client = URLClient(configuration: configuration)
    }

    /// Starts all downloads, and returns a future of the number of files that failed.
    func start() -> Future<Int> {
        display.start()
        for (url, failure) in list.rejections {
            display.report(failure.line(for: url))
            if options.isJSON { display.output(JSONLine(url: PrintableText.url(url), error: failure.reason).text) }
        }
        let all = list.jobs.indices.map(begin).allSucceeded()
        all.uponProgress(on: frames) { total in MainActor.assumeIsolated { self.rate = total.throughput } }
        all.upon(.mainActor) { _ in self.allEnded() }
        frames.start { self.display.refresh(self.files, self.total) }
        return finished.future
    }

    /// Cancels all running and waiting downloads. The run ends when all of them have ended.
    func stop() {
        isStopping = true
        client.cancelAll()
    }

    /// Starts a download, and returns a task that ends with it and always succeeds.
    private func begin(_ index: Int) -> Task<Void> {
        let job = list.jobs[index]
        let monitor: @Sendable (URLClient.Event) -> Void = { [frames] event in
            frames.submit { MainActor.assumeIsolated { self.note(event, of: index) } }
        }
        let download = receive(job, .init(monitor: monitor, rateLimit: options.rateLimit))
        download.uponProgress(on: frames) { bytes in MainActor.assumeIsolated { self.moved(index, bytes) } }
        download.upon(frames) { result in MainActor.assumeIsolated { self.ended(index, result) } }
        return download.recover { _ in }
    }

    /// Begins a request, and returns a task that ends when its response is where it belongs.
    private func receive(_ job: DownloadJob, _ settings: URLClient.RequestOptions) -> Task<Void> {
        let request = template.request(for: job.url)
        if options.wantsHeadOnly { return client.begin(request, options: settings).map { _ in } }
        guard options.printsContents else {
            let download = client.download(request, to: job.received, options: settings)
            return download.map(on: .any()) { file, _ in try job.checksum?.accept(file, as: job.destination) }
        }
        let showsHead = options.showsHead
        return client.stream(request, options: settings).flatMap { response in
            Task {
                if showsHead { try StandardOutput.write(Data(EventText.head(response.head).utf8)) }
                for try await bytes in response.body { try StandardOutput.write(bytes) }
            }
        }
    }

    private func note(_ event: URLClient.Event, of index: Int) {
        files[index].note(event, hasProxy: hasProxy)
        guard options.isVerbose, let line = EventText.line(event, of: files[index].name) else { return }
        display.report(line)
    }

    private func moved(_ index: Int, _ bytes: ProgressSnapshot) {
        let wasFresh = files[index].bytes.resumed == 0
        files[index].bytes = bytes
        if wasFresh, bytes.resumed > 0 { display.resumed(files[index]) }
    }

    private func ended(_ index: Int, _ result: Result<Void, any Error>) {
        let job = list.jobs[index]
        let url = job.url.absoluteString
        var problem: String?
        switch result {
        case .success:
            files[index].phase = .saved
        case .failure(let error) where isStopping && error.isCancellation:
            files[index].phase = .stopped
            problem = "stopped"
        case .failure(let error):
            let failure = DownloadFailure(error, hasProxy: hasProxy)
            files[index].phase = .failed(reason: failure.reason)
            problem = failure.reason
            let kept = isRepeatable ? job.keptCount : 0
            display.report(failure.line(for: url, attempts: files[index].attempts, kept: kept))
        }
        if options.isJSON {
            let file = options.savesFiles && problem == nil ? job.shownPath : nil
            let line = JSONLine(url: PrintableText.url(url), file: file, progress: files[index], error: problem)
            display.output(line.text)
        } else {
            if options.wantsHeadOnly || options.showsHead, let head = files[index].head {
                display.output(EventText.head(head))
            }
            if options.savesFiles { display.ended(files[index]) }
        }
    }

    private func allEnded() {
        // Partial files that can't be resumed are deleted by the time the connections are closed.
        if isStopping { client.shutdown().upon(.mainActor) { self.save() } } else { save() }
    }

    /// Lets the cache store the last files before the program ends.
    private func save() {
        if let cache { cache.flush().upon(.mainActor) { self.finish() } } else { finish() }
    }

    private func finish() {
        frames.stop()
        if isStopping {
            let count = list.jobs.count { $0.keptCount > 0 }
            let aim = count == 0 ? "to start over" : "to resume \(count == 1 ? "1 file" : "\(count) files")"
            display.report(isRepeatable ? "stopped; run the same command again \(aim)" : "stopped")
        }
        display.finish(total, elapsed: .now - beginning)
        finished.fill(with: total.failedCount)
    }
}

extension FileProgress {
    /// Updates the progress for an event. An event that was being delivered while its request was cancelled arrives
    /// after the end, and is ignored.
    fileprivate mutating func note(_ event: URLClient.Event, hasProxy: Bool) {
        switch event.kind {
        case _ where hasEnded: break
        case .sent:
            phase = .running
            waited = waited ?? event.elapsed
            source = .network
        case .response(let head):
            self.head = head
        case .cached(_, let isConfirmed):
            source = isConfirmed ? .confirmedCache : .cache
        case .retried(let attempt, let pause):
            let reason = event.failure.map { DownloadFailure($0, hasProxy: hasProxy).reason } ?? ""
            phase = .backingOff(reason: reason, until: .now + pause)
            attempts = attempt + 1
        case .finished:
            elapsed = waited.map { event.elapsed - $0 }
        default: break
        }
    }
}
