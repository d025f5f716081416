import Deferred
import TestSupport
import Testing

@testable import fetch

extension FileProgress {
    /// Creates the progress of a file of which some bytes have arrived.
    init(
        _ name: String = "f",
        _ phase: Phase = .running,
        _ completed: Int64 = 0,
        of total: Int64? = nil,
        resumed: Int64 = 0,
        rate: Double? = nil
    ) {
        self.init(name: name, phase: phase)
        bytes = ProgressSnapshot(
            fraction: 0,
            completed: completed,
            total: total,
            unit: .bytes,
            resumed: resumed,
            throughput: rate
        )
    }
}

@Suite("Progress of files", .ownThread, .timeLimit(.minutes(1)))
struct FileProgressTests {
    @Test func `a fraction needs a length`() {
        #expect(FileProgress("f", .running, 25, of: 100).fraction == 0.25)
        #expect(FileProgress("f", .running, 25, of: nil).fraction == nil)
        #expect(FileProgress("f", .saved, 25, of: nil).fraction == 1)
        #expect(FileProgress("f", .running, 0, of: 0).fraction == 1)
        #expect(FileProgress("f", .running, 200, of: 100).fraction == 1)
    }

    @Test func `the time that remains needs a length and a rate`() {
        #expect(FileProgress("f", .running, 25, of: 100, rate: 25).time == .seconds(3))
        #expect(FileProgress("f", .running, 25, of: nil, rate: 25).time == nil)
        #expect(FileProgress("f", .running, 25, of: 100).time == nil)
        #expect(FileProgress("f", .running, 25, of: 100, rate: 0).time == nil)
        #expect(FileProgress("f", .running, 25, of: .max, rate: 1).time == nil)
    }

    @Test func `a saved file shows its mean rate and its time, without resumed bytes`() {
        var file = FileProgress("f", .saved, 100, of: 100, resumed: 40, rate: 7)
        file.elapsed = .seconds(2)
        #expect(file.rate == 30)
        #expect(file.time == .seconds(2))
    }

    @Test func `the total is known once every length is`() {
        var files = [FileProgress("a", .running, 50, of: 100), FileProgress("b", .waiting)]
        #expect(TotalProgress(files).bytes.total == nil)
        files[1] = FileProgress("b", .saved, 300)
        let total = TotalProgress(files, rate: 10)
        #expect(total.bytes.total == 400)
        #expect(total.bytes.fractionOfBytes == 0.875)
        #expect(total.remaining == .seconds(5))
        #expect((total.savedCount, total.failedCount, total.fileCount) == (1, 0, 2))
    }

    @Test func `the total's time is never shorter than that of the file that takes longest`() {
        let slow = FileProgress("slow", .running, 0, of: 100, rate: 1)
        let fast = FileProgress("fast", .running, 0, of: 100, rate: 100)
        #expect(TotalProgress([slow, fast], rate: 100).remaining == .seconds(100))
        let ended = FileProgress("ended", .stopped, 0, of: 100, rate: 1)
        #expect(TotalProgress([ended, fast], rate: 100).remaining == .seconds(1))
    }

    @Test func `a failed file counts with its partial bytes`() {
        let total = TotalProgress([.init("a", .saved, 100, of: 100), .init("b", .failed(reason: ""), 30, of: 1_000)])
        #expect(total.bytes.fractionOfBytes == 1)
        #expect(total.failedCount == 1)
    }

    @Test func `lengths that no number can hold together are as much as one can hold`() {
        let total = TotalProgress([.init("a", .running, 1, of: .max), .init("b", .running, 1, of: .max)])
        #expect(total.bytes.total == .max)
    }
}
