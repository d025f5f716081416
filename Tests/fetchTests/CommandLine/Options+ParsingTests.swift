import TestSupport
import Testing

@testable import fetch

@Suite("Command line", .ownThread, .timeLimit(.minutes(1)))
struct OptionsParsingTests {
    @Test(
        "Arguments mean what the help says",
        arguments: [
            ([], Options()),
            (["http://h/a"], Options(urls: ["http://h/a"])),
            (["--output", "dir", "u"], Options(urls: ["u"], output: "dir")),
            (["-o", "dir", "-m", "7"], Options(output: "dir", maximum: 7)),
            (["--output=a=b", "--max=1"], Options(output: "a=b", maximum: 1)),
            (["u", "--max", "100", "v"], Options(urls: ["u", "v"], maximum: 100)),
            (["--max", "2", "--max", "3"], Options(maximum: 3)),
            (["--", "--max", "-x"], Options(urls: ["--max", "-x"])),
            (["http://h/?a=b", "--output", "-d"], Options(urls: ["http://h/?a=b"], output: "-d")),
            ([""], Options(urls: [""])),
        ]
    )
    func meaning(arguments: [String], expected: Options) throws {
        #expect(try Options.parse(arguments) == .download(expected))
    }

    @Test(
        "Help is asked for in two ways, among anything",
        arguments: [["--help"], ["-h"], ["u", "--help", "--bogus"]]
    )
    func help(arguments: [String]) throws {
        #expect(try Options.parse(arguments) == .help)
    }

    @Test(
        "A usage error names the value",
        arguments: [
            (["--bogus"], "unknown option \"--bogus\""),
            (["--bogus=1"], "unknown option \"--bogus=1\""),
            (["-x"], "unknown option \"-x\""),
            (["-"], "unknown option \"-\""),
            (["-\u{1B}[31m"], "unknown option \"-\\u{1B}[31m\""),
            (["--max"], "the option --max needs a value after it"),
            (["--output"], "the option --output needs a value after it"),
            (["-o", "--max"], "the option -o needs a value, but \"--max\" follows"),
            (["--output="], "the directory after --output is empty; use \".\" for the current one"),
            (["--max", "0"], "\"0\" after --max is not a number from 1 to 100"),
            (["--max=101"], "\"101\" after --max is not a number from 1 to 100"),
            (["--max", "-1"], "\"-1\" after --max is not a number from 1 to 100"),
            (["--max", "two"], "\"two\" after --max is not a number from 1 to 100"),
            (["--max", "99999999999999999999"], "\"99999999999999999999\" after --max is not a number from 1 to 100"),
        ]
    )
    func usageErrors(arguments: [String], expected: String) {
        #expect(throws: UsageError(description: expected)) { try Options.parse(arguments) }
    }

    @Test("The help names every option and exit code, in lines of at most 80 characters")
    func helpText() {
        for word in ["--output", "--max", "--help", "NO_COLOR", "Ctrl-C", "130", " 2 ", " 1 ", " 0 ", ".partial"] {
            #expect(HelpText.text.contains(word))
        }
        #expect(HelpText.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
