import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// All downloads of one run of the program: performs what its ``Schedule`` decides, and tells the display.
@MainActor
final class DownloadRun {
    typealias Begin = @MainActor (DownloadJob, ByteCounter) -> Task<(URL, URLResponse)>

    /// What is known of one job beside its place in the schedule.
    private struct Entry {
        let job: DownloadJob
        let counter = ByteCounter()
        var progress: FileProgress
        var meter = RateMeter()
        var began: Duration?
        var download: Task<(URL, URLResponse)>?
        var failure: DownloadFailure?
    }

    private(set) var failureCount: Int
    private var entries: [Entry]
    private var schedule: Schedule
    private var endRedraws: (@MainActor () -> Void)?
    private let list: JobList
    private let display: any Display
    private let timers: any Timers
    private let begin: Begin
    private let completion: @MainActor (DownloadRun) -> Void

    init(
        _ list: JobList,
        maximum: Int,
        policy: RetryPolicy = .standard,
        display: any Display,
        timers: any Timers,
        begin: @escaping Begin,
        completion: @escaping @MainActor (DownloadRun) -> Void
    ) {
        self.list = list
        self.display = display
        self.timers = timers
        self.begin = begin
        self.completion = completion
        entries = list.jobs.map { Entry(job: $0, progress: FileProgress(name: $0.name)) }
        schedule = Schedule(jobCount: list.jobs.count, maximum: maximum, policy: policy)
        failureCount = list.rejected.count
    }

    var isStopping: Bool { schedule.isStopping }

    func start() {
        display.start()
        for rejected in list.rejected {
            display.report(rejected.failure.line(for: rejected.argument))
        }
        endRedraws = display.refreshInterval.map { interval in timers.every(interval) { self.refresh() } }
        perform(schedule.start())
    }

    /// Cancels what runs. The completion comes when all of it has ended.
    func stop() {
        perform(schedule.stop())
    }

    private func perform(_ actions: [Schedule.Action]) {
        for action in actions {
            switch action {
            case .begin(let job, _): begin(job)
            case .wait(let job, let delay): wait(job, delay)
            case .cancel(let job): entries[job].download?.cancel()
            case .end(let job, let ending): end(job, ending)
            case .finish: finish()
            }
        }
    }

    private func begin(_ job: Int) {
        entries[job].began = entries[job].began ?? timers.now
        entries[job].progress.phase = .running
        let download = begin(entries[job].job, entries[job].counter)
        entries[job].download = download
        download.uponSuccess(on: .mainActor) { _ in self.succeeded(job) }
        download.uponFailure(on: .mainActor) { error in self.failed(job, DownloadFailure(error)) }
    }

    private func succeeded(_ job: Int) {
        entries[job].download = nil
        perform(schedule.succeeded(job: job))
    }

    private func failed(_ job: Int, _ failure: DownloadFailure) {
        entries[job].download = nil
        entries[job].failure = failure
        perform(schedule.failed(job: job, isTransient: failure.isTransient))
    }

    private func wait(_ job: Int, _ delay: Duration) {
        let reason = entries[job].failure?.reason ?? ""
        entries[job].progress.phase = .backingOff(reason: reason, until: timers.now + delay)
        timers.after(delay) { self.perform(self.schedule.retryDue(job: job)) }
    }

    private func end(_ job: Int, _ ending: Schedule.Ending) {
        let entry = entries[job]
        entries[job].progress.count = entry.counter.count
        if let began = entry.began {
            let elapsed = timers.now - began
            entries[job].progress.elapsed = elapsed
            entries[job].progress.rate = Double(entry.counter.count.fetched) / max(elapsed / .seconds(1), 0.001)
        }
        switch ending {
        case .saved:
            entries[job].progress.phase = .saved
        case .stopped:
            entries[job].progress.phase = .stopped
        case .failed(let attempts):
            let failure = entry.failure ?? DownloadFailure("it failed", advice: "try again")
            entries[job].progress.phase = .failed(reason: failure.reason)
            failureCount += 1
            let kept = PartialDownload.length(at: entry.job.destination)
            display.report(failure.line(for: entry.job.url.absoluteString, attempts: attempts, kept: kept))
        }
        display.ended(entries[job].progress, path: entry.job.shownPath)
    }

    private func refresh() {
        let now = timers.now
        for index in entries.indices where !entries[index].progress.hasEnded {
            let count = entries[index].counter.count
            entries[index].meter.record(count.fetched, at: now)
            entries[index].progress.count = count
            entries[index].progress.rate = entries[index].meter.rate
        }
        display.refresh(entries.map(\.progress), now: now)
    }

    private func finish() {
        endRedraws?()
        endRedraws = nil
        if isStopping {
            display.report(stopNotice)
        }
        display.finish(entries.map(\.progress), now: timers.now)
        completion(self)
    }

    private var stopNotice: String {
        let kept = entries.count { PartialDownload.length(at: $0.job.destination) > 0 }
        guard kept > 0 else { return "stopped; run the same command again to start over" }
        let files = kept == 1 ? "1 file" : "\(kept) files"
        return "stopped; run the same command again to go on with what is there of \(files)"
    }
}
