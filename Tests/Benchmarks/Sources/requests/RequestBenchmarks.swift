import Foundation

/// `requests [--quick]` prints tables of each engine's speed, and of its use of memory and processor time;
/// `requests --instructions` one of the instructions that a request takes.
///
/// Runs against the server named by `DEFERRED_NGINX`, which `Tests/RealServers/run` sets and starts. Each measurement
/// has a separate process: `requests --measure <engine> requests|stream <count> <in flight> <url>`.
@main
struct RequestBenchmarks {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "--measure" { return wait { try await measure(Array(arguments.dropFirst())) } }
        guard let server = ProcessInfo.processInfo.environment["DEFERRED_NGINX"] else {
            print("no server: run this by Tests/RealServers/run, see Tests/Benchmarks/README.md")
            return
        }
        var report = Report(server: server, isQuick: arguments.contains("--quick"))
        if arguments.contains("--instructions") { return try report.printInstructions() }
        try report.printRequests()
        try report.printStreams()
        try report.printTargets()
    }

    /// Runs `body` while this thread waits: valgrind does not survive how Dispatch ends the main thread of a program whose
    /// main function is asynchronous.
    private static func wait(for body: @escaping @Sendable () async throws -> Void) {
        let end = DispatchSemaphore(value: 0)
        Swift.Task.detached {
            do {
                try await body()
            } catch {
                print(error)
                exit(1)
            }
            end.signal()
        }
        end.wait()
    }

    private static func measure(_ arguments: [String]) async throws {
        guard arguments.count == 5, let name = EngineName(rawValue: arguments[0]), let count = Int(arguments[2]),
            let inFlight = Int(arguments[3]), let url = URL(string: arguments[4])
        else {
            print("usage: requests --measure <engine> requests|stream <count> <in flight> <url>")
            exit(1)
        }
        let engine = name.make(connections: inFlight)
        let sample: Sample
        if arguments[1] == "stream" {
            let start = Usage()
            let bytes = try await engine.stream(url) ?? 0
            sample = Sample(Double(bytes) / 1_048_576, failures: bytes > 0 ? 0 : 1, since: start)
        } else {
            // Opens the connections, and performs one-time initialisation.
            await engine.run(Requests(inFlight * 4, to: url, inFlight: inFlight))
            let start = Usage()
            let requests = Requests(count, to: url, inFlight: inFlight)
            await engine.run(requests)
            sample = Sample(Double(count), failures: requests.failures, since: start)
        }
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
        await engine.stop()
        // Whoever counts instructions does not see the sample.
        if sample.failures > 0 { exit(1) }
    }
}
