import TestSupport
import Testing

@testable import fetch

@MainActor
@Suite("Plain display", .ownThread, .timeLimit(.minutes(1)))
struct PlainDisplayTests {
    @Test("A saved file is one line, other ends are none, and reports go to standard error")
    func lines() {
        let (output, errors) = (Recording(), Recording())
        let display = PlainDisplay(output: output, errors: errors)
        display.start()
        var file = FileProgress(
            name: "a",
            phase: .saved,
            count: .init(received: 1_500, expected: 1_500, fetched: 1_500)
        )
        file.elapsed = .seconds(2)
        file.rate = 750
        display.ended(file, path: "dir/a\u{1B}[2J")
        for phase in [.failed(reason: "r"), .stopped] as [FileProgress.Phase] {
            file.phase = phase
            display.ended(file, path: "dir/b")
        }
        display.report("why")
        display.finish([file], now: .seconds(3))
        #expect(output.text == "dir/a\\u{1B}[2J  1.50 kB in 2.0 s (750 B/s)\n")
        #expect(errors.text == "fetch: why\n")
        #expect(display.refreshInterval == nil)
    }
}
