/// Which columns fit on a line, and how wide they are.
struct LineLayout: Equatable {
    static let percentWidth = 4
    static let sizeWidth = 7
    static let rateWidth = 9
    static let timeWidth = 7

    let width: Int
    let name: Int

    /// Frame included; 0 for none.
    let bar: Int

    let showsPercent: Bool
    let showsSize: Bool
    let showsRate: Bool
    let showsTime: Bool

    /// - Parameters:
    ///   - columns: The terminal's. The last one stays free, since some terminals wrap when it is written.
    ///   - longestName: In cells.
    init(columns: Int, longestName: Int) {
        width = max(1, columns - 1)
        showsPercent = width >= 12
        showsRate = width >= 36
        showsTime = width >= 48
        showsSize = width >= 60
        let taken =
            (showsPercent ? Self.percentWidth + 1 : 0) + (showsSize ? Self.sizeWidth + 1 : 0)
            + (showsRate ? Self.rateWidth + 1 : 0) + (showsTime ? Self.timeWidth + 1 : 0)
        let rest = width - taken
        if rest < 18 {
            name = rest
            bar = 0
        } else {
            name = min(max(longestName, 11), rest / 2, 40)
            bar = min(rest - name - 1, 60)
        }
    }
}
