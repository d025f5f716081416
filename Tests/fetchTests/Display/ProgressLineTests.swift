import TestSupport
import Testing

@testable import fetch

@Suite("Progress lines", .ownThread, .timeLimit(.minutes(5)))
struct ProgressLineTests {
    private static let halfway = FileProgress(
        name: "film.mp4",
        phase: .running,
        count: .init(received: 6_000_000, expected: 12_000_000, fetched: 6_000_000),
        rate: 1_500_000
    )

    private func line(_ columns: Int, _ appearance: Appearance = Appearance(), longestName: Int = 8) -> ProgressLine {
        ProgressLine(layout: LineLayout(columns: columns, longestName: longestName), appearance: appearance)
    }

    @Test(
        "Columns come with the terminal's width",
        arguments: [
            (5, "fi…4"),
            (20, "film.mp4        50%"),
            (40, "film.mp4    [█████░░░░░]  50% 1.50 MB/s"),
            (80, "film.mp4    [█████████████████░░░░░░░░░░░░░░░░░]  50% 6.00 MB 1.50 MB/s    0:04"),
        ]
    )
    func widths(columns: Int, expected: String) {
        #expect(line(columns).file(Self.halfway).text == expected)
    }

    @Test("Without Unicode, bars and ellipses are ASCII")
    func ascii() {
        let text = line(40, Appearance(isUnicode: false)).file(Self.halfway).text
        #expect(text == "film.mp4    [#####.....]  50% 1.50 MB/s")
        var long = Self.halfway
        long.name = "a-rather-long-name-of-a-film.mp4"
        #expect(line(40, Appearance(isUnicode: false), longestName: 32).file(long).text.hasPrefix("a-rat..m.mp4 ["))
    }

    @Test("Full means complete", arguments: [20, 40, 80, 200])
    func nearlyComplete(columns: Int) {
        var file = Self.halfway
        file.count.received = 11_999_999
        let text = line(columns).file(file).text
        #expect(text.contains("99%"))
        #expect(text.contains("░") || columns == 20)
        file.count.received = 12_000_000
        let full = line(columns).file(file).text
        #expect(full.contains("100%") && !full.contains("░"))
    }

    @Test("A length that is not known has a bar that moves to and fro, and no percentage or time")
    func unknownLength() {
        var file = Self.halfway
        file.count.expected = nil
        let line = line(80)
        let frames = (0..<200).map { line.file(file, step: $0).text }
        #expect(Set(frames).count > 20)
        #expect(frames.allSatisfy { !$0.contains("%") && $0.contains("6.00 MB 1.50 MB/s") && !$0.contains("0:0") })
        #expect(Set(frames.map { text in text.count { $0 == "█" } }) == [6])
        for (frame, next) in zip(frames, frames.dropFirst()) {
            #expect(frame != next)
        }
    }

    @Test(
        "No line is wider than the terminal less one cell, whatever is shown",
        arguments: Array(1...90) + [100, 199, 200]
    )
    func neverWrapping(columns: Int) {
        let names = [
            "a", "日本語のファイル名日本語のファイル名.txt", "👨‍👩‍👧 family.jpg", "e\u{301}\u{1B}[2J.txt", String(repeating: "x", count: 300),
        ]
        let phases: [FileProgress.Phase] = [
            .waiting, .running, .saved, .stopped, .failed(reason: "日本語 the server answered\n404"),
            .backingOff(reason: "the host refuses the connection", until: .seconds(400_000)),
        ]
        for name in names {
            for phase in phases {
                for expected in [nil, 0, Int64.max] as [Int64?] {
                    let count = ByteCounter.Count(received: .max / 2, expected: expected, fetched: 1)
                    let file = FileProgress(name: name, phase: phase, count: count, rate: 1e18, elapsed: .seconds(1e6))
                    for appearance in [Appearance(), Appearance(isUnicode: false)] {
                        let line = line(columns, appearance, longestName: CellWidth.of(name))
                        #expect(line.file(file).width <= max(1, columns - 1))
                        #expect(line.total(TotalProgress([file, file], rate: 1e18)).width <= max(1, columns - 1))
                    }
                }
            }
        }
    }

    @Test("Columns of all lines are below one another", arguments: [40, 80, 200])
    func alignment(columns: Int) {
        let line = line(columns, longestName: 12)
        var wide = Self.halfway
        wide.name = "日本語.txt"
        let rows = [line.file(Self.halfway), line.file(wide), line.total(TotalProgress([Self.halfway], rate: 1))]
        #expect(Set(rows.map(\.width)).count == 1)
        let bars = rows.map { CellWidth.of($0.text.prefix { $0 != "[" }) }
        #expect(Set(bars).count == 1)
    }

    @Test("What is not a bar says why")
    func notes() {
        var file = Self.halfway
        file.phase = .backingOff(reason: "time-out", until: .seconds(12))
        #expect(line(80).file(file, now: .seconds(10)).text == "film.mp4    again in 0:02: time-out")
        file.phase = .failed(reason: "404")
        #expect(line(80).file(file).text == "film.mp4    failed: 404")
        file.phase = .stopped
        #expect(line(80).file(file).text == "film.mp4    stopped")
    }
}
