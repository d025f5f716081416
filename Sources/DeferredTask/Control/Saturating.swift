// Arithmetic with numbers from outside, none of which may trap.

/// Fractions that come from outside.
enum Fraction {
    /// `fraction` between 0 and 1; 0 for what is no number.
    static func clamped(_ fraction: Double) -> Double { fraction > 0 ? min(fraction, 1) : 0 }
}

extension Int64 {
    /// The sum, or the extreme that is nearest to it.
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// The difference, or the extreme that is nearest to it.
    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
