import Foundation
import Tables

/// `benchmarks [--quick] [--only <text>]` prints the table of times; `benchmarks --instructions [--only <text>]` that
/// of instructions; `benchmarks --once <operation> <subject> [<times>]` performs one operation for a profiler to
/// observe.
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
        if arguments.contains("--instructions") {
            return print(tables(of: try Instructions.count(operations), in: "instructions", operations))
        }
        // Other libraries recurse where this one does not.
        try withStack(of: 1 << 30) { [operations] in
            let medians = try measure(operations, rounds: isQuick ? 1 : 5, secondsEach: isQuick ? 0.005 : 0.025)
            try report(medians, operations)
        }
    }

    private static func tables(of medians: Medians, in unit: String, _ operations: [Operation]) -> String {
        let futures = Table(
            Operation.futures.filter(operations.contains),
            unit: unit,
            peers: [.eventLoopFuture, .openCombine, .concurrency],
            floor: .floor,
            medians
        )
        let tasks = Table(
            Operation.tasks.filter(operations.contains),
            unit: unit,
            peers: [.future, .concurrency, .floor, .mutexPerSource, .globalLock],
            floor: .bareMutex,
            medians
        )
        return [futures, tasks].filter { !$0.isEmpty }.map { $0.lines.joined(separator: "\n") }.joined(
            separator: "\n\n"
        )
    }

    private static func report(_ medians: Medians, _ operations: [Operation]) throws {
        print(tables(of: medians, in: "ns", operations))
        let footprint = try Footprint.report()
        var targets = Table(["operation", "target", "measured", ""])
        for row in Target.all.compactMap({ $0.row(medians) }) { targets.add(row) }
        for row in footprint?.targets ?? [] { targets.add(row) }
        print("\n" + targets.lines.joined(separator: "\n"))
    }

    private static func once(_ operation: String, _ subject: String, times: Int) {
        let operation = Operation(rawValue: operation) ?? Operation.allCases.first { $0.rawValue.contains(operation) }
        let subject = Subject(rawValue: subject) ?? Subject.allCases.first { $0.rawValue.contains(subject) }
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
