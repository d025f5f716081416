import Deferred
import TestSupport
import Testing

@testable import fetch

@MainActor
@Suite("Plain display", .ownThread, .timeLimit(.minutes(1)))
struct DisplayTests {
    @Test func `a saved file is one line, other ends are none, and reports go to standard error`() {
        let (output, errors) = (Log<String>(), Log<String>())
        let display = Display(output: output.add, errors: errors.add)
        display.start()
        var file = FileProgress("a", .saved, 1_500, of: 1_500)
        file.path = "dir/a\u{1B}[2J"
        file.elapsed = .seconds(2)
        display.refresh([file], TotalProgress([file], rate: 1))
        display.resumed(file)
        display.ended(file)
        file = FileProgress("b", .saved, 1_500, of: 1_500, resumed: 500)
        (file.path, file.elapsed) = ("b", .seconds(2))
        display.ended(file)
        file.bytes = ProgressSnapshot(fraction: 1, completed: 1_500, total: 1_500, unit: .bytes)
        for source in [.cache, .confirmedCache] as [FileProgress.Source] {
            file.source = source
            display.ended(file)
        }
        for phase in [.failed(reason: "r"), .stopped] as [FileProgress.Phase] {
            file.phase = phase
            display.ended(file)
        }
        display.report("why")
        display.finish(TotalProgress([file]), elapsed: .seconds(3))
        #expect(
            output.entries == [
                "dir/a\\u{1B}[2J  1.50 kB in 2.0 s (750 B/s)\n", "b  1.50 kB in 2.0 s (500 B/s), resumed after 500 B\n",
                "b  1.50 kB in 2.0 s (750 B/s), from the cache\n",
                "b  1.50 kB in 2.0 s (750 B/s), unchanged, from the cache\n",
            ]
        )
        #expect(errors.entries == ["fetch: why\n"])
    }
}
