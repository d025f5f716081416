import TestSupport
import Testing

@testable import fetch

@Suite("Progress of files", .ownThread, .timeLimit(.minutes(1)))
struct TotalProgressTests {
    private func file(_ phase: FileProgress.Phase, _ received: Int64, of expected: Int64?) -> FileProgress {
        FileProgress(name: "f", phase: phase, count: .init(received: received, expected: expected, fetched: received))
    }

    @Test("A fraction needs a length")
    func fractions() {
        #expect(file(.running, 25, of: 100).fraction == 0.25)
        #expect(file(.running, 25, of: nil).fraction == nil)
        #expect(file(.saved, 25, of: nil).fraction == 1)
        #expect(file(.running, 0, of: 0).fraction == 1)
        #expect(file(.running, 200, of: 100).fraction == 1)
    }

    @Test("The time that remains needs a length and a rate")
    func remaining() {
        #expect(FileProgress.remaining(received: 25, expected: 100, rate: 25) == .seconds(3))
        #expect(FileProgress.remaining(received: 25, expected: nil, rate: 25) == nil)
        #expect(FileProgress.remaining(received: 25, expected: 100, rate: nil) == nil)
        #expect(FileProgress.remaining(received: 25, expected: 100, rate: 0) == nil)
        #expect(FileProgress.remaining(received: 25, expected: .max, rate: 1) == nil)
    }

    @Test("The total is known once every length is")
    func totals() {
        var files = [file(.running, 50, of: 100), file(.waiting, 0, of: nil)]
        #expect(TotalProgress(files).expected == nil)
        files[1] = file(.saved, 300, of: nil)
        let total = TotalProgress(files, rate: 10)
        #expect(total.expected == 400)
        #expect(total.fraction == 0.875)
        #expect(total.remaining == .seconds(5))
        #expect((total.savedCount, total.failedCount, total.endedCount, total.fileCount) == (1, 0, 1, 2))
    }

    @Test("A failed file counts with what is there of it")
    func failed() {
        let total = TotalProgress([file(.saved, 100, of: 100), file(.failed(reason: ""), 30, of: 1_000)])
        #expect(total.fraction == 1)
        #expect(total.failedCount == 1)
    }

    @Test("Lengths that no number can hold together are as much as one can hold")
    func enormous() {
        let total = TotalProgress([file(.running, 1, of: .max), file(.running, 1, of: .max)])
        #expect(total.expected == .max)
    }
}
