import Foundation

/// What standard output can show.
struct Appearance: Equatable {
    /// Bars that move; otherwise a line for each finished file.
    var hasBars: Bool

    var isColoured: Bool

    /// Whether the terminal's character set has more than ASCII in it.
    var isUnicode: Bool

    init(hasBars: Bool = true, isColoured: Bool = false, isUnicode: Bool = true) {
        self.hasBars = hasBars
        self.isColoured = isColoured
        self.isUnicode = isUnicode
    }

    init(isTerminal: Bool, environment: [String: String]) {
        let terminal = environment["TERM"] ?? ""
        hasBars = isTerminal && terminal != "dumb" && !terminal.isEmpty
        // https://no-color.org: any value but an empty one counts.
        isColoured = hasBars && (environment["NO_COLOR"] ?? "").isEmpty
        // The first of these that is set decides: POSIX, section 8.2.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let charset = locale.uppercased()
        isUnicode = charset.contains("UTF-8") || charset.contains("UTF8")
    }

    var ellipsis: String { isUnicode ? "…" : ".." }
}
