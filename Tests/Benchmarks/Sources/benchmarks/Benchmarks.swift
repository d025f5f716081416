import Foundation
import Tables

/// `benchmarks [--quick] [--only <text>]` prints the table;
/// `benchmarks --once <operation> <subject> [<times>]` does one operation for a profiler to watch.
@main
struct Benchmarks {
    static func main() throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.count >= 3, arguments[0] == "--once" {
            return once(arguments[1], arguments[2], times: arguments.count > 3 ? Int(arguments[3]) ?? 1 : 1)
        }
        let isQuick = arguments.contains("--quick")
        var operations = Operation.allCases
        if let only = arguments.firstIndex(of: "--only"), only + 1 < arguments.count {
            operations.removeAll { !$0.rawValue.contains(arguments[only + 1]) }
        }
        // Peers recurse where the library does not.
        try withStack(of: 1 << 30) { [operations] in
            let medians = try measure(operations, rounds: isQuick ? 1 : 5, secondsEach: isQuick ? 0.005 : 0.025)
            try report(medians, operations)
        }
    }

    private static func report(_ medians: Medians, _ operations: [Operation]) throws {
        let futures = Table(
            Operation.futures.filter(operations.contains),
            peers: [.eventLoopFuture, .openCombine, .concurrency],
            floor: .floor,
            medians
        )
        let tasks = Table(
            Operation.tasks.filter(operations.contains),
            peers: [.future, .concurrency, .mutexPerSource, .globalLock],
            floor: .bareMutex,
            medians
        )
        let tables = [futures, tasks].filter { !$0.isEmpty }.map { $0.lines.joined(separator: "\n") }
        print(tables.joined(separator: "\n\n"))

        let footprint = try Footprint.report()
        var targets = Table(["operation", "target", "measured", ""])
        for row in Target.all.compactMap({ $0.row(medians) }) { targets.add(row) }
        for row in footprint?.targets ?? [] { targets.add(row) }
        print("\n" + targets.lines.joined(separator: "\n"))
    }

    private static func once(_ operation: String, _ subject: String, times: Int) {
        let operation = Operation.allCases.first { $0.rawValue.contains(operation) }
        let subject = Subject.allCases.first { $0.rawValue.contains(subject) }
        guard let operation, let body = subject?.body(of: operation) else {
            print("no such operation or subject")
            exit(1)
        }
        body.prepare(times)()
    }
}

/// Runs `body` on a thread with a stack of `size` bytes.
private func withStack(of size: Int, _ body: @escaping @Sendable () throws -> Void) throws {
    let end = Holder<Result<Void, any Error>>()
    let ended = DispatchSemaphore(value: 0)
    let thread = Thread {
        end.content = Result { try body() }
        ended.signal()
    }
    thread.stackSize = size
    thread.start()
    ended.wait()
    try end.content?.get()
}
