/// The display capabilities of standard output.
struct Appearance: Equatable {
    /// True for moving progress bars; false for a line for each finished file.
    var hasBars = true
    var isColoured = false

    /// True if the terminal's character set is Unicode; false for ASCII only.
    var isUnicode = true
}

extension Appearance {
    init(isTerminal: Bool, environment: [String: String]) {
        hasBars = isTerminal && !["dumb", ""].contains(environment["TERM"] ?? "")
        // https://no-color.org: any value but an empty one counts.
        isColoured = hasBars && (environment["NO_COLOR"] ?? "").isEmpty
        // The first of these that is set decides: POSIX, section 8.2.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        isUnicode = ["UTF-8", "UTF8"].contains(where: locale.uppercased().contains)
    }
}
