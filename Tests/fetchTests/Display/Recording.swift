import TestSupport

@testable import fetch

/// Keeps what was written.
struct Recording: TextOutput {
    let log = Log<String>()

    var text: String { log.entries.joined() }

    func write(_ text: String) { log.add(text) }
}
