import Deferred
import TestSupport
import Testing

@testable import fetch

@Suite("Command line", .ownThread, .timeLimit(.minutes(1)))
struct OptionsParsingTests {
    @Test(
        arguments: [
            ([], Options()),
            (["http://h/a"], Options(urls: ["http://h/a"])),
            (["--output", "dir", "u"], Options(urls: ["u"], output: "dir")),
            (["-o", "dir", "-m", "7"], Options(output: "dir", maximum: 7)),
            (["--output=a=b", "--max=1"], Options(output: "a=b", maximum: 1)),
            (["u", "--max", "100", "v"], Options(urls: ["u", "v"], maximum: 100)),
            (["--max", "2", "--max", "3"], Options(maximum: 3)),
            (["--", "--max", "-x", "-", "--"], Options(urls: ["--max", "-x", "-", "--"])),
            (["http://h/?a=b", "--output", "-d"], Options(urls: ["http://h/?a=b"], output: "-d")),
            ([""], Options(urls: [""])),
            (["-i", "list", "--input", "-", "-"], Options(inputs: ["list", "-", "-"])),
            (["-n4", "-odir", "-q"], Options(output: "dir", maximum: 4, isQuiet: true)),
            (["-qn12"], Options(maximum: 12, isQuiet: true)),
            (["-qqq", "--quiet"], Options(isQuiet: true)),
            (["--retries", "0", "--timeout", "0.5"], Options(retries: 0, timeout: 0.5)),
            (["--engine", "libcurl"], Options(engine: .libcurl)),
            (["--engine=libcurl", "--engine=urlsession"], Options(engine: .urlSession)),
            (["--engine", "libcurl", "--engine=automatic"], Options()),
            (["--cache", "dir", "u"], Options(urls: ["u"], cache: "dir")),
            (["--cache=a=b", "--cache=c"], Options(cache: "c")),
            (["--", "--cache"], Options(urls: ["--cache"])),
            (["-H", "A: b:c", "--header=A:d"], Options(headers: ["A": "b:c", "A": "d"])),
        ]
    )
    func `arguments mean what the help says`(arguments: [String], expected: Options) throws {
        #expect(try Options(arguments) == expected)
    }

    @Test func `a command line that cannot be read is an error that names /proc`() throws {
        #expect(try Options(commandLine: ["fetch", "u"]) == Options(urls: ["u"]))
        let exit = #expect(throws: ProgramExit.self) { try Options(commandLine: []) }
        #expect(exit?.text.contains("/proc") == true && exit?.code == 1)
    }

    @Test(arguments: [["--help"], ["-h"], ["u", "--help", "--bogus"], ["-qh"]])
    func `help is asked for in two ways, among anything`(arguments: [String]) throws {
        #expect(throws: ProgramExit.help) { try Options(arguments) }
    }

    @Test(arguments: [["--version"], ["-V"], ["u", "-V"]])
    func `so is the version`(arguments: [String]) throws {
        #expect(throws: ProgramExit.version) { try Options(arguments) }
    }

    @Test(
        arguments: [
            (["--bogus"], "unknown option \"--bogus\""),
            (["--bogus=1"], "unknown option \"--bogus=1\""),
            (["-x"], "unknown option \"-x\""),
            (["-qx"], "unknown option \"-x\""),
            (["--quiet=yes"], "unknown option \"--quiet=yes\""),
            (["-\u{1B}[31m"], "unknown option \"-\\u{1B}[31m\""),
            (["--max"], "the option --max needs a value"),
            (["--output"], "the option --output needs a value"),
            (["--output="], "the option --output needs a value"),
            (["-o", "--max"], "the option -o needs a value, but \"--max\" follows"),
            (["--max", "0"], "\"0\" after --max is not a number from 1 to 100"),
            (["--max=101"], "\"101\" after --max is not a number from 1 to 100"),
            (["-n", "-1"], "\"-1\" after -n is not a number from 1 to 100"),
            (["--max", "two"], "\"two\" after --max is not a number from 1 to 100"),
            (["--max", "99999999999999999999"], "\"99999999999999999999\" after --max is not a number from 1 to 100"),
            (["--retries", "-1"], "\"-1\" after --retries is not a number from 0 to 100"),
            (["--timeout", "0"], "\"0\" after --timeout is not a number from 0.001 to 86400.0"),
            (["--timeout", "nan"], "\"nan\" after --timeout is not a number from 0.001 to 86400.0"),
            (["--timeout", "inf"], "\"inf\" after --timeout is not a number from 0.001 to 86400.0"),
            (["--cache"], "the option --cache needs a value"),
            (["--cache="], "the option --cache needs a value"),
            (["--cache", "--quiet"], "the option --cache needs a value, but \"--quiet\" follows"),
            (["-cache", "dir"], "unknown option \"-cache\""),
            (["--engine", "netscape"], "\"netscape\" after --engine is none of automatic, urlsession and libcurl"),
            (["-H", "Bearer secret"], "the text after -H is not a header; write it like 'Name: value'"),
            (["-H", "A: b\r\nC: d"], "the text after -H is not a header; write it like 'Name: value'"),
            (["-H", ": secret"], "the text after -H is not a header; write it like 'Name: value'"),
        ]
    )
    func `a usage error names the value`(arguments: [String], expected: String) {
        #expect(throws: ProgramExit.usage(expected)) { try Options(arguments) }
    }

    @Test func `the help names every option and exit code, in lines of at most 80 characters`() {
        let options = [
            "output", "input", "max", "header", "retries", "timeout", "engine", "cache", "quiet", "help", "version",
        ]
        for word in options.map({ "--\($0)" }) + ["NO_COLOR", "Ctrl-C", "130", " 2 ", " 1 ", " 0 ", ".partial"] {
            #expect(Options.help.contains(word))
        }
        #expect(Options.help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
