import TestSupport
import Testing

@testable import fetch

@Suite("Combinations of options", .ownThread, .timeLimit(.minutes(1)))
struct OptionsCheckTests {
    private static let url = "http://h/a"
    private static let sum = "--checksum=sha256:" + String(repeating: "0f", count: 32)

    @Test(
        arguments: [
            (["-d", "a", "--form", "a=b", url], "--data can't be combined with --form: a request has one body"),
            (["-I", "-X", "PUT", url], "--head can't be combined with --request: it asks for the head alone"),
            (["-I", "-d", "a", url], "--head can't be combined with --data: it asks for the head alone"),
            (["-I", "--form", "a=b", url], "--head can't be combined with --form: it asks for the head alone"),
            (["-I", "-o", "a", url], "--head can't be combined with --output: it asks for the head alone"),
            (["-I", sum, url], "--head can't be combined with --checksum: it asks for the head alone"),
            (["-o", "-", "--json", url], "-o - can't be combined with --json: both print to standard output"),
            (["-o-", sum, url], "-o - can't be combined with --checksum: the contents come before their sum is known"),
            (["--json", "--include", url], "--json can't be combined with --include: its lines have the status"),
            (["-q", "--json", url], "--quiet can't be combined with --json: it hides the lines"),
            (["-q", "--include", url], "--quiet can't be combined with --include: it hides the heads"),
            (["-qI", url], "--quiet can't be combined with --head: it hides the head"),
            (["-qv", url], "--quiet can't be combined with --verbose: it hides the events"),
        ]
    )
    func `options that contradict each other are refused, with the reason`(arguments: [String], reason: String) {
        #expect(throws: ProgramExit.usage("\(reason); leave one out")) { try Options(arguments).check() }
    }

    @Test(
        arguments: [
            ([sum, url, url], "--checksum is for one file; give one URL and no list"),
            ([sum, "-i", "list", url], "--checksum is for one file; give one URL and no list"),
            (["-o-"], "-o - is for one file; give one URL and no list"),
            (["--digest", url], "--digest needs a name and a password; give them with --user"),
            (["-d", "a"], "there is no URL to send a request to; give one"),
            (["-X", "PUT"], "there is no URL to send a request to; give one"),
            (["-I"], "there is no URL to send a request to; give one"),
            (
                ["-o", "http://ada:secret@h/a"],
                "\"http://…@h/a\" after --output is a URL, and there is no other; put the name of a file before it"
            ),
        ]
    )
    func `options that lack another are refused, with what they need`(arguments: [String], reason: String) {
        #expect(throws: ProgramExit.usage(reason)) { try Options(arguments).check() }
    }

    @Test(
        arguments: [
            ("", "\"\": it has no scheme"), ("h/a", "h/a: it has no scheme"),
            ("ftp://h/", "ftp://h/: its scheme is not http or https"),
            ("http://", "http://: it names no host"), ("http:///a", "http:///a: it names no host"),
            ("http://h:0/", "http://h:0/: its port is not one from 1 to 65535"),
            ("http://h:65536/", "http://h:65536/: its port is not one from 1 to 65535"),
            ("http://[", "http://[: it is not a URL"),
            ("ftp://ada:secret@h/", "ftp://…@h/: its scheme is not http or https"),
            ("http://h\u{1B}[2J:0/", "http://h\\u{1B}[2J:0/: it is not a URL"),
        ]
    )
    func `a URL that can't be is refused without a password, before anything is asked for`(url: String, reason: String)
    {
        let exit = ProgramExit.usage("\(reason); write it like https://example.com/file.zip")
        #expect(throws: exit) { try Options([Self.url, url]).check() }
    }

    @Test(arguments: [
        [], [url], ["HTTPS://h", "http://[::1]:80/a?b#c"], ["-I", "--json", url], ["-o", "-", "-v", url],
    ])
    func `everything else is taken`(arguments: [String]) throws {
        try Options(arguments).check()
    }
}
