import TestSupport
import Testing

@testable import fetch

@MainActor
@Suite("Bar display", .ownThread, .timeLimit(.minutes(1)))
struct BarDisplayTests {
    private let output = Log<String>()
    private let errors = Log<String>()

    private func file(_ name: String, _ phase: FileProgress.Phase, _ completed: Int64 = 50) -> FileProgress {
        FileProgress(name, phase, completed, of: 100)
    }

    private func display(rows: Int = 24) -> BarDisplay {
        BarDisplay(output: output.add, errors: errors.add, appearance: Appearance(isUnicode: false)) { (30, rows) }
    }

    private func refresh(_ display: BarDisplay, _ files: [FileProgress], rejectedCount: Int = 0) {
        display.refresh(files, TotalProgress(files, rejectedCount: rejectedCount))
    }

    private var terminal: VirtualTerminal {
        var terminal = VirtualTerminal(columns: 30)
        terminal.feed(output.entries.joined())
        return terminal
    }

    @Test func `running files have bars, ended ones stay above, waiting ones count in the total`() {
        let display = display()
        display.start()
        #expect(!terminal.isCursorVisible)
        let begun = [file("a", .running), file("b", .running, 10), file("c", .waiting, 0)]
        refresh(display, begun)
        #expect(
            terminal.lines == [
                "a           [#####.....]  50%", "b           [#.........]  10%", "Total 0/3   [##........]  20%",
            ]
        )
        let files = [file("a", .running), file("b", .saved, 100), file("c", .running)]
        display.ended(files[1])
        refresh(display, files)
        #expect(
            terminal.lines == [
                "b           [##########] 100%", "a           [#####.....]  50%", "c           [#####.....]  50%",
                "Total 1/3   [######....]  66%",
            ]
        )
        display.finish(TotalProgress(files), elapsed: .seconds(2))
        #expect(terminal.lines == ["b           [##########] 100%", "1 of 3 files saved, 200 B in"])
        #expect(terminal.isCursorVisible)
        #expect(terminal.unknownSequences.isEmpty)
    }

    @Test func `a resumed file says above how much was there`() {
        let display = display()
        let resumed = FileProgress("a", .running, 50, of: 100, resumed: 40)
        display.resumed(resumed)
        refresh(display, [resumed])
        #expect(
            terminal.lines == [
                "a           resumed after 40", "a           [#####.....]  50%", "Total 0/1   [#####.....]  50%",
            ]
        )
    }

    @Test func `reports go to standard error, once, while no bar is in the way`() {
        let display = display()
        refresh(display, [file("a", .running)])
        display.report("something")
        #expect(errors.entries == [])
        refresh(display, [file("a", .running)])
        display.finish(TotalProgress([file("a", .saved)]), elapsed: .seconds(2))
        #expect(errors.entries == ["fetch: something\n"])
    }

    @Test func `after a suspension the lines are redrawn below any other output`() {
        let display = display()
        let files = [file("a", .running)]
        display.start()
        refresh(display, files)
        display.suspend()
        #expect(terminal.isCursorVisible)
        output.add("$ fg\n")
        display.start()
        #expect(!terminal.isCursorVisible)
        refresh(display, files)
        #expect(terminal.lines.count == 5)
        #expect(terminal.lines[2] == "$ fg")
        #expect(terminal.lines[3].hasPrefix("a "))
    }

    @Test func `files that can't be asked for count as failed`() {
        let display = display()
        refresh(display, [file("a", .running)], rejectedCount: 2)
        #expect(terminal.lines.last?.hasPrefix("Total 2/3 ") == true)
        let total = TotalProgress([file("a", .saved)], rejectedCount: 2)
        #expect((total.savedCount, total.failedCount, total.fileCount) == (1, 2, 3))
    }

    @Test(arguments: [1, 2]) func `a screen without room for files has the total alone`(rows: Int) {
        let display = display(rows: rows)
        refresh(display, [file("a", .running), file("b", .running)])
        #expect(terminal.lines.count == 1 && terminal.lines[0].hasPrefix("Total 0/2 "))
    }

    @Test(arguments: [3, 4, 6]) func `more files than rows are counted instead of shown`(rows: Int) {
        let display = display(rows: rows)
        refresh(display, (1...9).map { file("f\($0)", .running) })
        let shown = max(0, rows - 3)
        #expect(terminal.lines.count == shown + 2)
        #expect(terminal.lines[shown] == "and \(9 - shown) more")
    }

    @Test func `nothing changed, nothing written`() {
        let display = display()
        refresh(display, [file("a", .running)])
        let before = output.entries.joined()
        refresh(display, [file("a", .running)])
        #expect(output.entries.joined() == before)
    }
}
