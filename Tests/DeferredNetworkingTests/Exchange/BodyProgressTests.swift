import DeferredTask
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct BodyProgressTests {
    @Test func `the progress of an upload is that of the bytes sent, and of a download that of those received`() {
        let (upload, download) = (ProgressReporter(unit: .bytes), ProgressReporter(unit: .bytes))
        for report in [upload.counting(.sent), download.counting(.received)] {
            report(.sent(3, of: 4))
            report(.received(5, of: 10))
        }
        #expect(upload.completed == 3 && upload.total == 4)
        #expect(download.completed == 5 && download.total == 10)
    }

    @Test func `bytes that an earlier transfer of the same task received don't count as resumed`() {
        let reporter = ProgressReporter(unit: .bytes)
        let report = reporter.countingFile()
        report(.received(5, of: 10, resumed: 2))
        report(.received(6, of: 10, resumed: 5))
        report(.sent(9, of: 9))
        #expect(reporter.completed == 6 && reporter.total == 10 && reporter.resumed == 2)
    }
}
