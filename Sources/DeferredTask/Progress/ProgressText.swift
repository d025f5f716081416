internal import Foundation

/// Formats sizes, rates and times for a line of progress: short, of bounded width, the same in every locale.
///
/// The description of a ``ProgressSnapshot`` is composed of these. Use them to show the parts in separate places.
///
/// ```swift
/// sizeLabel.text = ProgressText.bytes(snapshot.completed)                     // 1.20 MB
/// timeLabel.text = snapshot.estimatedTimeRemaining.map(ProgressText.duration)  // 0:05
/// ```
public enum ProgressText {
    /// Formats a number of bytes in at most 7 characters, such as `12.3 MB`, in decimal units. Negative counts as 0.
    public static func bytes(_ count: Int64) -> String {
        guard count >= 1000 else { return "\(max(0, count)) B" }
        var value = Double(count)
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            value /= 1000
            // A value that would be rounded to 1000 is 1 of the next unit.
            if value < 999.5 { return "\(threeDigits(value)) \(unit)" }
        }
        return "\(threeDigits(value / 1000)) EB"
    }

    /// Formats a rate in bytes per second in at most 9 characters, such as `300 kB/s`. NaN and infinity count as 0.
    public static func rate(_ bytesPerSecond: Double) -> String {
        bytes(wholeRate(bytesPerSecond)) + "/s"
    }

    /// Returns a rate without its fraction: 0 for negative or non-finite numbers, and at most 9e18.
    static func wholeRate(_ unitsPerSecond: Double) -> Int64 {
        guard unitsPerSecond > 0, unitsPerSecond.isFinite else { return 0 }
        return Int64(min(unitsPerSecond, 9e18))
    }

    /// Formats a remaining time in minutes and seconds, such as `0:07`, rounded up: in at most 7 characters up to 99
    /// hours, and above that in days.
    public static func duration(_ duration: Duration) -> String {
        // Longer durations have no components.
        let (whole, fraction) = min(max(duration, .zero), .seconds(Int64.max)).components
        let seconds = whole + (fraction > 0 ? 1 : 0)
        let (minutes, hours) = (seconds / 60, seconds / 3600)
        if hours >= 100 { return "\(hours / 24) d" }
        if hours > 0 { return "\(hours):\(twoDigits(minutes % 60)):\(twoDigits(seconds % 60))" }
        return "\(minutes):\(twoDigits(seconds % 60))"
    }

    /// Formats an elapsed time: below a minute with tenths of a second, such as `3.1 s`, and otherwise as
    /// ``duration(_:)`` does.
    public static func elapsed(_ duration: Duration) -> String {
        guard duration < .milliseconds(59_950) else { return Self.duration(duration) }
        return String(format: "%.1f s", max(duration, .zero) / .seconds(1))
    }

    private static func threeDigits(_ value: Double) -> String {
        String(format: value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value)
    }

    private static func twoDigits(_ value: Int64) -> String { (value < 10 ? "0" : "") + String(value) }
}
