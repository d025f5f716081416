import DeferredCore
import DeferredTesting
import Foundation
import TestSupport
import Testing

@testable import DeferredTask

/// Tests that no number from outside traps: counts saturate, fractions stay within 0...1, and NaN counts as 0.
@Suite(.ownThread, .timeLimit(.minutes(5)))
struct ProgressExtremesTests {
    private typealias Producer = Deferred<Task<Int>.Result>

    private static let counts: [Int64] = [
        .min, .min + 1, -1 << 62, -1_000_000_000, -1, 0, 1, 999, 1_000_000_000, 1 << 53, 1 << 62, .max - 1, .max,
    ]
    private static let rates: [Double] = [
        -.infinity, -.greatestFiniteMagnitude, -9.3e18, -1, -0.0, 0, .leastNonzeroMagnitude, 0.5, 1, 9e18, 9.3e18,
        .greatestFiniteMagnitude, .infinity, .nan, -.nan, .signalingNaN,
    ]
    private static let durations: [Duration] = [
        Duration(secondsComponent: .min, attosecondsComponent: -999_999_999_999_999_999), .seconds(Int64.min),
        .seconds(-1),
        Duration(secondsComponent: 0, attosecondsComponent: -1), .zero, .nanoseconds(1), .seconds(59.99),
        .seconds(360_000),
        .seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999),
        .seconds(Int64.max) + .seconds(Int64.max), .seconds(1.6e20), .seconds(-1.6e20),
    ]

    private func check(_ snapshot: ProgressSnapshot?, sourceLocation: SourceLocation = #_sourceLocation) {
        guard let snapshot else {
            Issue.record("no snapshot", sourceLocation: sourceLocation)
            return
        }
        #expect((0...1).contains(snapshot.fraction), sourceLocation: sourceLocation)
        #expect(snapshot.fraction.sign == .plus, sourceLocation: sourceLocation)
        #expect(snapshot.completed >= 0 && snapshot.total ?? 0 >= 0, sourceLocation: sourceLocation)
        #expect(snapshot.throughput ?? 0 >= 0, sourceLocation: sourceLocation)
        #expect(snapshot.estimatedTimeRemaining ?? .zero >= .zero, sourceLocation: sourceLocation)
        #expect(!snapshot.description.isEmpty, sourceLocation: sourceLocation)
    }

    @Test(arguments: [ProgressReporter.Unit.bytes, .count])
    func `reports of any numbers, alone and added up`(unit: ProgressReporter.Unit) {
        for completed in Self.counts {
            for total in Self.counts.map(Optional.init) + [nil] {
                let reporters = (0..<2).map { _ in ProgressReporter(total: total, unit: unit) }
                let single = Task(Producer(), reporter: reporters[0])
                let both = reporters.map { Task(Producer(), reporter: $0) }.allSucceeded()
                let log = Log<ProgressSnapshot>()
                single.uponProgress(on: .immediate) { log.add($0) }
                both.uponProgress(on: .immediate) { log.add($0) }
                for reporter in reporters {
                    reporter.report(completed: completed, of: total)
                    #expect((0...1).contains(reporter.report.fraction))
                    #expect(reporter.completed >= 0 && reporter.total ?? 0 >= 0)
                }
                for units in Self.counts { reporters[0].add(units) }
                for snapshot in log.entries { check(snapshot) }
                #expect((0...1).contains(single.progress.fractionCompleted))
                #expect((0...1).contains(both.progress.fractionCompleted))
            }
        }
    }

    @Test func `sums saturate`() {
        let reporters = (0..<3).map { _ in ProgressReporter(total: 1 << 62, unit: .bytes) }
        for reporter in reporters { reporter.report(completed: 1 << 61, of: 1 << 62) }
        let log = Log<ProgressSnapshot>()
        reporters.map { Task(Producer(), reporter: $0) }.allSucceeded().uponProgress(on: .immediate) { log.add($0) }
        #expect(log.entries.last?.total == .max)
        #expect(log.entries.last?.completed == 3 << 61)
        #expect(log.entries.last?.fraction == 0.5)
        reporters[0].add(.max)
        reporters[0].add(1)
        #expect(reporters[0].completed == .max)
        reporters[0].add(.min)
        reporters[0].add(.min)
        #expect(reporters[0].completed == 0)
    }

    @Test func `snapshots of any numbers`() {
        for fraction in Self.rates {
            for throughput in Self.rates.map(Optional.init) + [nil] {
                for completed in Self.counts {
                    for total in [nil, .min, -1, 0, 1, .max] as [Int64?] {
                        let snapshot = ProgressSnapshot(
                            fraction: fraction,
                            completed: completed,
                            total: total,
                            unit: completed % 2 == 0 ? .bytes : .count,
                            throughput: throughput
                        )
                        #expect(snapshot.description.contains(" %"))
                        #expect(snapshot.estimatedTimeRemaining ?? .zero >= .zero)
                    }
                }
            }
        }
        let nothing = ProgressSnapshot(fraction: .nan, completed: 1, total: nil, unit: .count, throughput: .nan)
        #expect("\(nothing)" == "0 %, 1, 0/s")
        for (given, fraction) in [(Double.nan, 0), (-1, 0), (0.5, 0.5), (2, 1), (.infinity, 1)] {
            #expect(ProgressSnapshot(fraction: given, completed: 0, total: nil, unit: .count).fraction == fraction)
        }
    }

    @Test func `a foreign progress of any numbers`() {
        for completed in Self.counts {
            for total in Self.counts {
                for isIndeterminate in [false, true] {
                    let foreign = OddProgress(completed, total, isIndeterminate)
                    let task = Task(Producer(), progress: foreign)
                    let both = [task, Task(Producer(), progress: foreign)].allSucceeded()
                    let log = Log<ProgressSnapshot>()
                    both.uponProgress(on: .immediate) { log.add($0) }.cancel()
                    check(log.entries.last)
                    #expect((0...1).contains(task.progress.fractionCompleted))
                }
            }
        }
    }

    @Test func `numbers that Foundation's own arithmetic bears`() {
        for completed in Self.counts where completed > .min {
            for total in [1, 1_000, .max] as [Int64] {
                let foreign = Progress(parent: nil, userInfo: nil)
                foreign.totalUnitCount = total
                foreign.completedUnitCount = completed
                let task = Task(Producer(), progress: foreign)
                #expect((0...1).contains(task.progress.fractionCompleted))
                #expect(task.progress.isIndeterminate == (completed < 0))
            }
        }
    }

    @Test func `rates of any counts and times, which may go back`() {
        for first in Self.durations {
            for second in Self.durations {
                for completed in Self.counts {
                    for window in [.seconds(5), .zero, .seconds(Int64.max)] as [Duration] {
                        var meter = RateMeter(window: window)
                        for count in Self.counts {
                            meter.record(completed, at: first)
                            meter.record(count, at: second)
                            let rate = meter.rate ?? 0
                            #expect(rate >= 0 && rate.isFinite)
                        }
                    }
                }
            }
        }
    }

    @Test func `quantities of any numbers`() {
        for count in Self.counts { #expect(ProgressText.bytes(count).count <= 7) }
        for rate in Self.rates { #expect(ProgressText.rate(rate).hasSuffix("B/s")) }
        for duration in Self.durations {
            #expect(!ProgressText.duration(duration).hasPrefix("-"))
            #expect(!ProgressText.elapsed(duration).hasPrefix("-"))
        }
        #expect(ProgressText.duration(Duration(secondsComponent: .max, attosecondsComponent: 1)) == "106751991167300 d")
        #expect(ProgressText.elapsed(.seconds(-1)) == "0.0 s")
    }
}

/// A progress with values that no producer should report.
private final class OddProgress: Progress, @unchecked Sendable {
    private let odd: (completed: Int64, total: Int64, isIndeterminate: Bool)

    init(_ completed: Int64, _ total: Int64, _ isIndeterminate: Bool) {
        odd = (completed, total, isIndeterminate)
        super.init(parent: nil, userInfo: nil)
    }

    override var completedUnitCount: Int64 {
        get { odd.completed }
        set {}
    }

    override var totalUnitCount: Int64 {
        get { odd.total }
        set {}
    }

    override var isIndeterminate: Bool { odd.isIndeterminate }
}
