import TestSupport
import Testing

@testable import fetch

@Suite("Screen", .ownThread, .timeLimit(.minutes(1)))
struct ScreenTests {
    private func texts(_ lines: String...) -> [StyledText] { lines.map { StyledText($0) } }

    @Test func `lines replace the previous ones, and output above stays`() {
        var screen = Screen(isColoured: false)
        var terminal = VirtualTerminal(columns: 40)
        terminal.feed("before\n")
        terminal.feed(screen.draw(texts("one is long", "two"), columns: 40))
        #expect(terminal.lines == ["before", "one is long", "two"])
        terminal.feed(screen.draw(texts("one", "two"), columns: 40))
        #expect(terminal.lines == ["before", "one", "two"])
        terminal.feed(screen.draw(texts("two"), above: texts("one is done"), columns: 40))
        #expect(terminal.lines == ["before", "one is done", "two"])
        terminal.feed(screen.draw(texts("two", "three", "four"), columns: 40))
        #expect(terminal.lines == ["before", "one is done", "two", "three", "four"])
        terminal.feed(screen.draw([], columns: 40))
        #expect(terminal.lines == ["before", "one is done"])
        #expect(terminal.unknownSequences.isEmpty)
    }

    @Test func `only lines that changed are written`() {
        var screen = Screen(isColoured: false)
        _ = screen.draw(texts("one", "two"), columns: 40)
        #expect(screen.draw(texts("one", "two"), columns: 40) == "")
        let change = screen.draw(texts("one", "2"), columns: 40)
        #expect(change.contains("2") && !change.contains("one"))
    }

    @Test func `lines that a narrower terminal has wrapped are gone after the next redraw`() {
        var screen = Screen(isColoured: false)
        let wide = texts("0123456789012345", "abc")
        _ = screen.draw(wide, columns: 40)
        // The terminal's screen after it became 10 columns wide.
        var terminal = VirtualTerminal(columns: 10)
        terminal.feed("0123456789012345\nabc\n")
        #expect(terminal.lines.count == 3)
        terminal.feed(screen.draw(texts("new", "lines"), columns: 10))
        #expect(terminal.lines == ["new", "lines"])
    }

    @Test func `colours are there when they may be`() {
        var text = StyledText("a", .good)
        text.append("b")
        #expect(text.coloured == "\u{1B}[32ma\u{1B}[0mb")
        #expect(text.text == "ab")
        var screen = Screen(isColoured: true)
        #expect(screen.draw([text], columns: 40).contains(text.coloured))
    }
}
