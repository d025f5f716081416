import Deferred
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a run knows of one job, beside its place in the schedule.
struct DownloadEntry {
    let job: DownloadJob
    let counter = ByteCounter()
    var progress: FileProgress

    /// The download, while it runs.
    var task: Task<(URL, URLResponse)>?

    /// Why the last attempt failed.
    var failure: DownloadFailure?

    private var meter = RateMeter()
    private var began: Duration?

    init(_ job: DownloadJob) {
        self.job = job
        progress = FileProgress(name: job.name)
    }

    mutating func begin(_ task: Task<(URL, URLResponse)>, at now: Duration) {
        self.task = task
        began = began ?? now
        progress.phase = .running
    }

    /// Brings the progress up to date while the file isn't complete.
    mutating func measure(at now: Duration) {
        guard !progress.hasEnded else { return }
        progress.count = counter.count
        meter.record(progress.count.fetched, at: now)
        progress.rate = meter.rate
    }

    mutating func end(in phase: FileProgress.Phase, at now: Duration) {
        progress.phase = phase
        progress.count = counter.count
        guard let began else { return }
        let elapsed = now - began
        progress.elapsed = elapsed
        progress.rate = Double(progress.count.fetched) / max(elapsed / .seconds(1), 0.001)
    }
}
