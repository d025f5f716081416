/// Arithmetic with fractions from outside the package.
enum Fraction {
    /// Returns `fraction` clamped to 0 through 1; NaN counts as 0.
    static func clamped(_ fraction: Double) -> Double { fraction > 0 ? min(fraction, 1) : 0 }
}
