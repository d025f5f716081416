import DeferredTask
import TestSupport
import Testing

@Suite("Quantities", .ownThread, .timeLimit(.minutes(1)))
struct ProgressTextTests {
    @Test(
        arguments: [
            (-1, "0 B"), (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (1234, "1.23 kB"), (9_994, "9.99 kB"),
            (9_996, "10.0 kB"), (99_949, "99.9 kB"), (99_960, "100 kB"), (999_499, "999 kB"), (999_500, "1.00 MB"),
            (12_345_678, "12.3 MB"), (1_000_000_000, "1.00 GB"), (5_000_000_000_000, "5.00 TB"),
            (Int64.max, "9.22 EB"),
        ] as [(Int64, String)]
    )
    func `bytes have three digits and a unit`(count: Int64, expected: String) {
        #expect(ProgressText.bytes(count) == expected)
        #expect(expected.count <= 7)
    }

    @Test(arguments: [
        (0, "0 B/s"), (-5, "0 B/s"), (1500, "1.50 kB/s"), (.nan, "0 B/s"), (.infinity, "0 B/s"),
        (1e30, "9.00 EB/s"),
    ])
    func `rates are bytes each second, and 0 where they make no sense`(rate: Double, expected: String) {
        #expect(ProgressText.rate(rate) == expected)
    }

    @Test(
        arguments: [
            (.zero, "0:00"), (.seconds(-3), "0:00"), (.milliseconds(1), "0:01"), (.seconds(59), "0:59"),
            (.seconds(60), "1:00"), (.seconds(3599), "59:59"), (.seconds(3600), "1:00:00"),
            (.seconds(359_999), "99:59:59"), (.seconds(360_000), "4 d"),
        ] as [(Duration, String)]
    )
    func `durations are rounded up to seconds`(duration: Duration, expected: String) {
        #expect(ProgressText.duration(duration) == expected)
    }

    @Test func `elapsed times below a minute have tenths`() {
        #expect(ProgressText.elapsed(.milliseconds(3_140)) == "3.1 s")
        #expect(ProgressText.elapsed(.seconds(61)) == "1:01")
        #expect(ProgressText.elapsed(.milliseconds(59_949)) == "59.9 s")
        for duration in [59_950, 59_999, 60_000] { #expect(ProgressText.elapsed(.milliseconds(duration)) == "1:00") }
    }
}
