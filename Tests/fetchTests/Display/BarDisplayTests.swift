import TestSupport
import Testing

@testable import fetch

@MainActor
@Suite("Bar display", .ownThread, .timeLimit(.minutes(1)))
struct BarDisplayTests {
    private let output = Recording()
    private let errors = Recording()

    private func file(_ name: String, _ phase: FileProgress.Phase, _ received: Int64 = 50) -> FileProgress {
        FileProgress(name: name, phase: phase, count: .init(received: received, expected: 100, fetched: received))
    }

    private func display(rows: Int = 24) -> BarDisplay {
        BarDisplay(output: output, errors: errors, appearance: Appearance(isUnicode: false)) {
            Terminal.Size(columns: 30, rows: rows)
        }
    }

    private var terminal: VirtualTerminal {
        var terminal = VirtualTerminal(columns: 30)
        terminal.feed(output.text)
        return terminal
    }

    @Test("Running files have bars, ended ones stay above, waiting ones count in the total")
    func life() {
        let display = display()
        display.start()
        #expect(!terminal.isCursorVisible)
        display.refresh([file("a", .running), file("b", .running, 10), file("c", .waiting, 0)], now: .zero)
        #expect(
            terminal.lines == [
                "a           [#####.....]  50%", "b           [#.........]  10%", "Total 0/3   [##........]  20%",
            ]
        )
        let files = [file("a", .running), file("b", .saved, 100), file("c", .running)]
        display.ended(files[1], path: "b")
        display.refresh(files, now: .seconds(1))
        #expect(
            terminal.lines == [
                "b           [##########] 100%", "a           [#####.....]  50%", "c           [#####.....]  50%",
                "Total 1/3   [######....]  66%",
            ]
        )
        display.finish(files, now: .seconds(2))
        #expect(terminal.lines == ["b           [##########] 100%", "1 of 3 files saved, 200 B in"])
        #expect(terminal.isCursorVisible)
        #expect(terminal.unknownSequences.isEmpty)
    }

    @Test("Reports go to standard error, once, while no bar is in the way")
    func reports() {
        let display = display()
        display.refresh([file("a", .running)], now: .zero)
        display.report("something")
        #expect(errors.text == "")
        display.refresh([file("a", .running)], now: .seconds(1))
        display.finish([file("a", .saved)], now: .seconds(2))
        #expect(errors.text == "fetch: something\n")
    }

    @Test("After a suspension the lines are drawn anew, below what came in between")
    func suspension() {
        let display = display()
        let files = [file("a", .running)]
        display.start()
        display.refresh(files, now: .zero)
        display.suspend()
        #expect(terminal.isCursorVisible)
        output.write("$ fg\n")
        display.resume()
        #expect(!terminal.isCursorVisible)
        display.refresh(files, now: .zero)
        #expect(terminal.lines.count == 5)
        #expect(terminal.lines[2] == "$ fg")
        #expect(terminal.lines[3].hasPrefix("a "))
    }

    @Test("More files than rows are counted instead of shown", arguments: [1, 4, 6])
    func fewRows(rows: Int) {
        let display = display(rows: rows)
        display.refresh((1...9).map { file("f\($0)", .running) }, now: .zero)
        let shown = max(0, rows - 3)
        #expect(terminal.lines.count == shown + 2)
        #expect(terminal.lines[shown] == "and \(9 - shown) more")
    }

    @Test("Nothing changed, nothing written")
    func unchanged() {
        let display = display()
        display.refresh([file("a", .running)], now: .zero)
        let before = output.text
        display.refresh([file("a", .running)], now: .zero)
        #expect(output.text == before)
    }
}
