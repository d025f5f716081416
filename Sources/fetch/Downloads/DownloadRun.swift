import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// All downloads of one run of the program: performs what its ``Schedule`` decides, and tells the display.
@MainActor
final class DownloadRun {
    typealias Begin = @MainActor (DownloadJob, ByteCounter) -> Task<(URL, URLResponse)>

    private(set) var failureCount: Int
    private var entries: [DownloadEntry]
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
        entries = list.jobs.map(DownloadEntry.init)
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
            case .cancel(let job): entries[job].task?.cancel()
            case .end(let job, let ending): end(job, ending)
            case .finish: finish()
            }
        }
    }

    private func begin(_ job: Int) {
        let task = begin(entries[job].job, entries[job].counter)
        entries[job].begin(task, at: timers.now)
        task.uponSuccess(on: .mainActor) { _ in self.succeeded(job) }
        task.uponFailure(on: .mainActor) { error in self.failed(job, DownloadFailure(error)) }
    }

    private func succeeded(_ job: Int) {
        entries[job].task = nil
        perform(schedule.succeeded(job: job))
    }

    private func failed(_ job: Int, _ failure: DownloadFailure) {
        entries[job].task = nil
        entries[job].failure = failure
        perform(schedule.failed(job: job, isTransient: failure.isTransient))
    }

    private func wait(_ job: Int, _ delay: Duration) {
        let reason = entries[job].failure?.reason ?? ""
        entries[job].progress.phase = .backingOff(reason: reason, until: timers.now + delay)
        timers.after(delay) { self.perform(self.schedule.retryDue(job: job)) }
    }

    private func end(_ job: Int, _ ending: Schedule.Ending) {
        switch ending {
        case .saved:
            entries[job].end(in: .saved, at: timers.now)
        case .stopped:
            entries[job].end(in: .stopped, at: timers.now)
        case .failed(let attempts):
            let failure = entries[job].failure ?? DownloadFailure("it failed", advice: "try again")
            entries[job].end(in: .failed(reason: failure.reason), at: timers.now)
            report(failure, of: entries[job].job, attempts: attempts)
        }
        display.ended(entries[job].progress, path: entries[job].job.shownPath)
    }

    private func report(_ failure: DownloadFailure, of job: DownloadJob, attempts: Int) {
        failureCount += 1
        let kept = PartialDownload.length(at: job.destination)
        display.report(failure.line(for: job.url.absoluteString, attempts: attempts, kept: kept))
    }

    private func refresh() {
        for index in entries.indices {
            entries[index].measure(at: timers.now)
        }
        display.refresh(entries.map(\.progress), now: timers.now)
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
        return "stopped; run the same command again to resume \(files)"
    }
}
