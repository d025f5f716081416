import TestSupport
import Testing

@testable import fetch

@Suite("Appearance", .ownThread, .timeLimit(.minutes(1)))
struct AppearanceTests {
    @Test(
        arguments: [
            (false, ["TERM": "xterm", "LANG": "C.UTF-8"], (false, false, true)),
            (true, ["TERM": "xterm", "LANG": "C.UTF-8"], (true, true, true)),
            (true, ["TERM": "xterm"], (true, true, false)),
            (true, ["TERM": "dumb"], (false, false, false)),
            (true, [:], (false, false, false)),
            (true, ["TERM": "xterm", "NO_COLOR": "1"], (true, false, false)),
            (true, ["TERM": "xterm", "NO_COLOR": ""], (true, true, false)),
            (true, ["TERM": "xterm", "LC_ALL": "C", "LANG": "de_DE.utf8"], (true, true, false)),
            (true, ["TERM": "xterm", "LC_ALL": "", "LC_CTYPE": "de_DE.utf8"], (true, true, true)),
        ] as [(Bool, [String: String], (Bool, Bool, Bool))]
    )
    func `the terminal and the environment decide`(
        isTerminal: Bool,
        environment: [String: String],
        expected: (Bool, Bool, Bool)
    ) {
        let (hasBars, isColoured, isUnicode) = expected
        #expect(
            Appearance(isTerminal: isTerminal, environment: environment)
                == Appearance(hasBars: hasBars, isColoured: isColoured, isUnicode: isUnicode)
        )
    }
}
