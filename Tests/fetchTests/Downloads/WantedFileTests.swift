import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Lists of URLs", .ownThread, .timeLimit(.minutes(1)))
struct WantedFileTests {
    @Test(
        arguments: [
            ("", []),
            ("http://h/a\nhttp://h/b", [WantedFile(url: "http://h/a"), WantedFile(url: "http://h/b")]),
            ("\u{FEFF}http://h/a\r\n\r\n  # http://h/b\r\n#\tc", [WantedFile(url: "http://h/a")]),
            ("http://h/a\tname.txt\n", [WantedFile(url: "http://h/a", name: "name.txt")]),
            ("http://h/a#part \t a b \n", [WantedFile(url: "http://h/a#part", name: "a b")]),
            (
                "http://h/a\t\nhttp://h/b\ta\tb",
                [WantedFile(url: "http://h/a"), WantedFile(url: "http://h/b", name: "a\tb")]
            ),
            ("\tname", []),
        ]
    )
    func `a line is a URL, and after a tab a name`(text: String, expected: [WantedFile]) {
        #expect(WantedFile.list(in: text) == expected)
    }

    @Test func `a list that can't be read fails with its path`() throws {
        let directory = try TemporaryDirectory()
        for path in [directory.file("missing").path, directory.url.path, "/dev/zero"] {
            let error = #expect(throws: ProgramExit.self) { try WantedFile.list(at: path) }
            #expect(error?.text.hasPrefix("cannot read \"\(path)\": ") == true)
            #expect(error?.code == 1)
        }
    }
}
