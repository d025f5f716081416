import Deferred
import Foundation
import Logging
import Metrics

@main
struct Program {
    static func main() async throws {
        switch CommandLine.arguments.dropFirst().first.map({ URL(string: $0) }) {
        case nil:
            exit(try await Demo.run() ? 0 : 1)
        case .some(let url?) where url.host != nil:
            exit(await serve(queueAt: url) ? 0 : 1)
        default:
            print("usage: Worker [URL of a queue]; without one, a demonstration")
            exit(2)
        }
    }

    /// Does the jobs of a queue until somebody sends `SIGTERM`.
    ///
    /// - Returns: Whether what had been begun has ended in time.
    static func serve(queueAt url: URL) async -> Bool {
        let termination = SignalListener(SIGTERM)
        defer { termination.cancel() }

        // A service would have those of its platform here.
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        let tally = Tally()
        MetricsSystem.bootstrap(tally)
        var logger = Logger(label: "worker")
        let level = ProcessInfo.processInfo.environment["LOG_LEVEL"] ?? ""
        logger.logLevel = Logger.Level(rawValue: level) ?? .error
        let queue = JobQueue(at: url, Observer(logger: logger))
        let stop = CancellationTokenSource()
        let work = Worker(queue: queue, stop: stop.token).run()

        await termination.received.value
        stop.cancel()  // No more jobs are taken.
        let result = await work.timeout(after: .seconds(10)).result  // Those that were taken are done.
        await queue.shutdown().value

        let cached = queue.cache.statistics
        print("worker \(ProcessInfo.processInfo.processIdentifier): \((try? result.get()) ?? 0) jobs, \(tally)")
        print("  and \(cached.hits) rules from the cache, \(cached.misses) from the queue, \(cached.bytes) bytes kept")
        return (try? result.get()) != nil
    }
}
