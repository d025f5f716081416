/// What standard output can show.
struct Appearance: Equatable {
    /// Bars that move; otherwise a line for each finished file.
    var hasBars = true
    var isColoured = false

    /// Whether the terminal's character set has more than ASCII in it.
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
