import AllocationCounter
import Foundation

// `footprint <subject> heap` prints the heap use of futures, `footprint <subject> peak` the peak resident memory of a
// million of them. One line of JSON each; see `Footprint` in the benchmarks.

nonisolated(unsafe) var kept: [Any] = []

let subjects: [String: any Pending.Type] = [
    "Deferred": PendingDeferreds.self,
    "EventLoopFuture": PendingEventLoopFutures.self,
    "OpenCombine": PendingOpenCombineFutures.self,
]

let arguments = CommandLine.arguments
guard arguments.count == 3, let subject = subjects[arguments[1]] else {
    print("usage: footprint <subject> heap|peak")
    exit(1)
}
let report = arguments[2] == "heap" ? heap(of: subject) : ["peak": peak(of: subject)]
print(String(decoding: try JSONSerialization.data(withJSONObject: report), as: UTF8.self))

func heap(of subject: any Pending.Type) -> [String: Double] {
    count_heap_use()
    let count = 100_000
    var report: [String: Double] = [:]
    func measure(_ name: String, _ make: () -> Any) {
        let before = heap_use()
        let made = make()
        let after = heap_use()
        withExtendedLifetime(made) {
            report[name + "Blocks"] = Double(after.blocks - before.blocks) / Double(count)
            report[name + "Bytes"] = Double(after.bytes - before.bytes) / Double(count)
        }
        kept.append(made)
    }
    let (bare, handled, one) = (subject.init(room: count), subject.init(room: count), subject.init(room: count))
    one.add(futures: 1, handlers: 1)
    measure("future") { bare.add(futures: count, handlers: 0) }
    measure("handled") { handled.add(futures: count, handlers: 1) }
    measure("handler") { one.addHandlers(count) }
    kept.append((bare, handled, one))
    return report
}

func peak(of subject: any Pending.Type) -> Double {
    let count = 1_000_000
    let futures = subject.init(room: count)
    let before = peakMemory()
    futures.add(futures: count, handlers: 1)
    let after = peakMemory()
    kept.append(futures)
    return after - before
}

/// Returns the peak resident memory in bytes.
func peakMemory() -> Double {
    var usage = rusage()
    #if canImport(Darwin)
    getrusage(RUSAGE_SELF, &usage)
    return Double(usage.ru_maxrss)
    #else
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Double(usage.ru_maxrss) * 1024
    #endif
}
