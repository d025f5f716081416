import DeferredCore
import Foundation
import TestSupport
import Testing

/// Runs random programs over all operations of Core and Task, on the library and on a model.
///
/// To run only these tests: `swift test --filter CompositionTests`. With `--sanitize=address --disable-xctest` and
/// `ASAN_OPTIONS=detect_leaks=1`, no leak is reported; the runner of XCTest itself has leaks.
///
/// `RANDOM_PROGRAMS` is the number of programs, `RANDOM_SEED` the first seed; a seed makes the same program each time.
@Suite(.ownThread, .timeLimit(.minutes(10)))
struct CompositionTests {
    private static let parts = 8

    init() { Diagnostics.ignoreOurs() }

    @Test(arguments: 0..<parts)
    func `random programs do on the library what they do on the model`(part: Int) async {
        let seeds = Settings.seeds(of: 10_000, part: part, parts: Self.parts)
        let failure = await Machine.onThread { Machine.firstFailure(in: seeds) }
        if let failure { Issue.record("\(failure)") }
    }

    @Test(arguments: 0..<parts)
    func `random programs on several threads run each handler once, fill each future once and free everything`(
        part: Int
    ) async {
        let seeds = Settings.seeds(of: 2_000, part: part, parts: Self.parts)
        let failure = await Machine.onThread { ThreadedMachine.firstFailure(in: seeds) }
        if let failure { Issue.record("\(failure)") }
    }
}

enum Settings {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Returns the seeds for one of several parts.
    static func seeds(of standard: Int, part: Int, parts: Int) -> Range<UInt64> {
        let (count, first) = (number("RANDOM_PROGRAMS") ?? standard, number("RANDOM_SEED") ?? 0)
        return UInt64(first + count * part / parts)..<UInt64(first + count * (part + 1) / parts)
    }
}

/// Silences the reports of debug builds that programs drop futures unfilled while handlers wait.
private enum Diagnostics {
    static func ignoreOurs() { _ = isSet }

    private static let isSet: Bool = {
        let others = DeferredDiagnostics.unfilledHandler
        DeferredDiagnostics.unfilledHandler = { report in
            if !"\(report.file)".hasPrefix("CompositionTests/") { others(report) }
        }
        return true
    }()
}
