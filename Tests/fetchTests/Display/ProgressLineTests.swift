import TestSupport
import Testing

@testable import fetch

@Suite("Progress lines", .ownThread, .timeLimit(.minutes(5)))
struct ProgressLineTests {
    private static let halfway = file(6_000_000)

    private static func file(_ completed: Int64, of total: Int64? = 12_000_000) -> FileProgress {
        FileProgress("film.mp4", .running, completed, of: total, rate: 1_500_000)
    }

    private func line(_ columns: Int, _ appearance: Appearance = Appearance(), longestName: Int = 8) -> ProgressLine {
        ProgressLine(columns: columns, longestName: longestName, appearance: appearance)
    }

    @Test(arguments: [
        (5, "fi…4"),
        (20, "film.mp4        50%"),
        (40, "film.mp4    [█████░░░░░]  50% 1.50 MB/s"),
        (80, "film.mp4    [█████████████████░░░░░░░░░░░░░░░░░]  50% 6.00 MB 1.50 MB/s    0:04"),
    ])
    func `columns come with the terminal's width`(columns: Int, expected: String) {
        #expect(line(columns).file(Self.halfway).text == expected)
    }

    @Test func `without Unicode, bars and ellipses are ASCII`() {
        let text = line(40, Appearance(isUnicode: false)).file(Self.halfway).text
        #expect(text == "film.mp4    [#####.....]  50% 1.50 MB/s")
        let long = FileProgress("a-rather-long-name-of-a-film.mp4", .running, 1)
        #expect(line(40, Appearance(isUnicode: false), longestName: 32).file(long).text.hasPrefix("a-rat..m.mp4 ["))
    }

    @Test(arguments: [20, 40, 80, 200])
    func `full means complete`(columns: Int) {
        let text = line(columns).file(Self.file(11_999_999)).text
        #expect(text.contains("99%"))
        #expect(text.contains("░") || columns == 20)
        let full = line(columns).file(Self.file(12_000_000)).text
        #expect(full.contains("100%") && !full.contains("░"))
    }

    @Test func `a percentage is exact`() {
        for completed in 0...100 {
            #expect(line(20).file(Self.file(Int64(completed), of: 100)).text.hasSuffix(" \(completed)%"))
        }
    }

    @Test func `a length that is not known has a bar that moves to and fro, and no percentage or time`() {
        let file = Self.file(6_000_000, of: nil)
        let line = line(80)
        let frames = (0..<200).map { line.file(file, step: $0).text }
        #expect(Set(frames).count > 20)
        #expect(frames.allSatisfy { !$0.contains("%") && $0.contains("6.00 MB 1.50 MB/s") && !$0.contains("0:0") })
        #expect(Set(frames.map { text in text.count { $0 == "█" } }) == [6])
        for (frame, next) in zip(frames, frames.dropFirst()) {
            #expect(frame != next)
        }
    }

    private static func ended(_ name: String, _ phase: FileProgress.Phase, _ total: Int64?) -> FileProgress {
        var file = FileProgress(name, phase, .max / 2, of: total, rate: 1e18)
        file.elapsed = .seconds(1e6)
        return file
    }

    @Test(arguments: Array(1...90) + [100, 199, 200])
    func `no line is wider than the terminal less one cell, whatever is shown`(columns: Int) {
        let names = [
            "a", "日本語のファイル名日本語のファイル名.txt", "👨‍👩‍👧 family.jpg", "e\u{301}\u{1B}[2J.txt", String(repeating: "x", count: 300),
        ]
        let phases: [FileProgress.Phase] = [
            .waiting, .running, .saved, .stopped, .failed(reason: "日本語 the server answered\n404"),
            .backingOff(reason: "the host refuses the connection", until: .now + .seconds(400_000)),
        ]
        for name in names {
            for phase in phases {
                for expected in [nil, 0, Int64.max] as [Int64?] {
                    let (slow, fast) = (
                        FileProgress(name, phase, 1, of: expected, rate: 1e-3), Self.ended(name, phase, expected)
                    )
                    for (appearance, file) in [(Appearance(), slow), (Appearance(isUnicode: false), fast)] {
                        let line = line(columns, appearance, longestName: FittedText.width(name))
                        #expect(FittedText.width(line.file(file).text) <= max(1, columns - 1))
                        let total = line.total(TotalProgress([file, file], rate: file.rate))
                        #expect(FittedText.width(total.text) <= max(1, columns - 1))
                    }
                }
            }
        }
    }

    @Test(arguments: [40, 80, 200])
    func `columns of all lines are below one another`(columns: Int) {
        let line = line(columns, longestName: 12)
        let wide = FileProgress("日本語.txt", .running, 1, of: 2, rate: 1)
        let rows = [line.file(Self.halfway), line.file(wide), line.total(TotalProgress([Self.halfway], rate: 1))]
        #expect(Set(rows.map { FittedText.width($0.text) }).count == 1)
        let bars = rows.map { FittedText.width($0.text.prefix { $0 != "[" }) }
        #expect(Set(bars).count == 1)
    }

    @Test func `a file without a bar shows the reason`() {
        var file = Self.halfway
        let now = ContinuousClock.now
        file.phase = .backingOff(reason: "time-out", until: now + .seconds(2))
        #expect(line(80).file(file, now: now).text == "film.mp4    again in 0:02: time-out")
        file.phase = .failed(reason: "404")
        #expect(line(80).file(file).text == "film.mp4    failed: 404")
        file.phase = .stopped
        #expect(line(80).file(file).text == "film.mp4    stopped")
    }
}
