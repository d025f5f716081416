import Deferred
import DeferredTesting
import Foundation

/// Starts a worker, stops it in the middle, has another one do the rest, and looks for what was lost.
enum Demo {
    private static let jobCount = 300

    /// - Returns: Whether nothing was lost.
    static func run() async throws -> Bool {
        let queue = FlakyQueue(jobCount: jobCount)
        let server = try LoopbackServer { queue.answer($0) }

        guard try await runWorker(on: server.url(), until: queue.isInTheMiddle) else { return false }
        let middle = queue.state
        print("stopped: \(middle.results.count) jobs done, \(middle.taken.count) lost, \(middle.waiting.count) left")
        guard middle.taken.isEmpty, !middle.waiting.isEmpty,
            middle.results.count + middle.waiting.count == jobCount
        else { return false }

        queue.releaseReserve()
        guard try await runWorker(on: server.url(), until: queue.isDone) else { return false }
        let end = queue.state
        let right = end.results.filter { $0.value == String(FlakyQueue.text(of: $0.key).reversed()) }
        print("stopped: \(end.results.count) jobs done, \(right.count) of them right, with \(end.tokens) tokens")
        // Each worker asks for the rule before each job.
        return right.count == jobCount && end.taken.isEmpty && end.rules < 10
    }

    /// Runs this program as a worker in a process of its own, and sends it `SIGTERM` when `moment` is filled.
    ///
    /// - Returns: Whether it has ended in an orderly way.
    private static func runWorker(on url: URL, until moment: Deferred<Void>) async throws -> Bool {
        let worker = Process()
        worker.executableURL = Bundle.main.executableURL
        worker.arguments = [url.absoluteString]
        let exit = Deferred<Bool>()
        worker.terminationHandler = { exit.fill(with: $0.terminationReason == .exit && $0.terminationStatus == 0) }
        try worker.run()
        let running = [moment.future, exit.ignored()].firstFilled()
        _ = await Task(succeedsFrom: running).timeout(after: .seconds(60)).result
        worker.terminate()
        do {
            return try await Task(succeedsFrom: exit).timeout(after: .seconds(30)).value
        } catch {
            kill(worker.processIdentifier, SIGKILL)
            throw error
        }
    }
}
