// Arithmetic with numbers from outside the package, none of which may trap.

/// Arithmetic with fractions from outside the package.
enum Fraction {
    /// Returns `fraction` clamped to 0 through 1; NaN counts as 0.
    static func clamped(_ fraction: Double) -> Double { fraction > 0 ? min(fraction, 1) : 0 }
}

extension Int64 {
    /// Returns the sum, clamped to the range of the type.
    func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other > 0 ? .max : .min) : sum
    }

    /// Returns the difference, clamped to the range of the type.
    func subtractingSaturated(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
