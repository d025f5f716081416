import Deferred
import Foundation

/// Takes jobs from a queue, does them, and hands in their results, several at a time.
struct Worker: Sendable {
    let queue: JobQueue
    let stop: CancellationToken
    var lanes = 8

    /// Works until `stop` is cancelled, and ends when all that was taken is done.
    ///
    /// - Returns: A task of the number of jobs. Cancelling it gives up the jobs that were taken.
    func run() -> Task<Int> {
        (0..<lanes).map { _ in Task { try await lane() } }.allSucceeded().map { $0.reduce(0, +) }
    }

    private func lane() async throws -> Int {
        var count = 0
        // Looked at between jobs only: when a request to take one is cancelled, the queue may have given it away already.
        while !stop.isCancelled {
            do {
                if let job = try await queue.take().get() {
                    let rule = try await queue.rule().get()
                    try await queue.finish(job, with: Self.result(of: job, by: rule)).get()
                    count += 1
                } else {
                    await pause()
                }
            } catch {
                try Task.checkCancellation()
                // The queue gives a job that was not finished to somebody else.
                print("worker: \(error.localizedDescription)")
                await pause()
            }
        }
        return count
    }

    /// Waits a second, or until it is time to stop.
    private func pause() async {
        _ = await Task.success(()).delay(for: .seconds(1)).cancelled(by: stop).result
    }

    private static func result(of job: JobQueue.Job, by rule: String) -> String {
        rule == "backwards" ? String(job.text.reversed()) : job.text
    }
}
