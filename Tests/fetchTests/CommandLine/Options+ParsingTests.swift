import Deferred
import Foundation
import TestSupport
import Testing

@testable import fetch

@Suite("Command line", .ownThread, .timeLimit(.minutes(1)))
struct OptionsParsingTests {
    private static let sum = String(repeating: "0f", count: 32)

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
            (["-X", "PUT", "-da=1", "--data", "@-"], Options(method: "PUT", body: RequestBody(data: ["a=1", "@-"]))),
            (["--form", "a==b"], Options(body: RequestBody(form: [.init(name: "a", value: "=b")]))),
            (["-uada:a:b", "--digest"], Options(user: UserCredential(name: "ada", password: "a:b"), isDigest: true)),
            (["--user=ada:"], Options(user: UserCredential(name: "ada", password: ""))),
            (["--proxy", "socks5h://h"], Options(proxy: URL(string: "socks5h://h"))),
            (["--cacert", "ca.pem"], Options(authorities: "ca.pem")),
            (["--limit-rate", "1.5M", "-o", "-"], Options(output: "-", rateLimit: 1_500_000)),
            (["--limit-rate=1", "--limit-rate=2k"], Options(rateLimit: 2_000)),
            (["--checksum", "SHA256:\(sum.uppercased())"], Options(checksum: Checksum("sha256:\(sum)"))),
            (["--json", "--verbose"], Options(isJSON: true, isVerbose: true)),
            (["-vI", "--include"], Options(showsHead: true, wantsHeadOnly: true, isVerbose: true)),
        ]
    )
    func `arguments mean what the help says`(arguments: [String], expected: Options) throws {
        #expect(try Options(arguments) == expected)
    }

    @Test func `a command line that cannot be read is an error that names /proc`() throws {
        #expect(try Options(commandLine: ["fetch", "http://h"]) == Options(urls: ["http://h"]))
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
            (["--bogus=1"], "unknown option \"--bogus=…\""),
            (["--usr=ada:secret"], "unknown option \"--usr=…\""),
            (["-x"], "unknown option \"-x\""),
            (["-qx"], "unknown option \"-x\""),
            (["--quiet=yes"], "unknown option \"--quiet=…\""),
            (["-\u{1B}[31m"], "unknown option \"-\\u{1B}[31m\""),
            (["--max"], "the option --max needs a value"),
            (["--output"], "the option --output needs a value"),
            (["--output="], "the option --output needs a value"),
            (["-o", "--max"], "the option -o needs a value, but \"--max\" follows"),
            (["-o", "--user=ada:secret"], "the option -o needs a value, but \"--user=…\" follows"),
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
            (["-X", "post"], "\"post\" after -X is not a method; write it like PUT"),
            (["--request=A B"], "\"A B\" after --request is not a method; write it like PUT"),
            (["-X", "HEAD"], "HEAD after -X would save nothing; use --head"),
            (["--form", "secret"], "the text after --form is not a field; write it like 'name=value' or 'name=@file'"),
            (
                ["--form", "=secret"],
                "the text after --form is not a field; write it like 'name=value' or 'name=@file'"
            ),
            (["-u", "secret"], "the text after -u is not a name and a password; write it like 'name:password'"),
            (["-u", ":secret"], "the text after -u is not a name and a password; write it like 'name:password'"),
            (["-u", "a:\n"], "the text after -u is not a name and a password; write it like 'name:password'"),
            (
                ["--proxy", "secret@h"],
                "the text after --proxy is not the URL of a proxy; write it like http://host:3128"
            ),
            (["--proxy=ftp://h"], "the text after --proxy is not the URL of a proxy; write it like http://host:3128"),
            (["--limit-rate", "0.5"], rate("0.5")), (["--limit-rate=-1k"], rate("-1k")),
            (["--limit-rate", "nan"], rate("nan")), (["--limit-rate", "inf"], rate("inf")),
            (["--limit-rate", "k"], rate("k")), (["--limit-rate", "9e99G"], rate("9e99G")),
            (["--checksum", "md5:1"], checksum("md5:1")),
            (["--checksum", "sha256:\(sum)0"], checksum("sha256:\(sum)0")),
            (["--json=1"], "unknown option \"--json=…\""), (["-vz"], "unknown option \"-z\""),
            (["-H", ": secret"], "the text after -H is not a header; write it like 'Name: value'"),
            (["-H", ":a: secret"], "the text after -H is not a header; write it like 'Name: value'"),
        ]
    )
    func `a usage error names the value`(arguments: [String], expected: String) {
        #expect(throws: ProgramExit.usage(expected)) { try Options(arguments) }
    }

    private static func rate(_ text: String) -> String {
        "\"\(text)\" after --limit-rate is not a number of bytes a second; write it like 500k or 1.5M"
    }

    private static func checksum(_ text: String) -> String {
        "\"\(text)\" after --checksum is not a checksum; write it like sha256: and 64 hexadecimal digits"
    }

    @Test func `the help names every option and exit code, in lines of at most 80 characters`() {
        let options = [
            "output", "input", "max", "header", "retries", "timeout", "engine", "cache", "quiet", "help", "version",
            "request", "data", "form", "user", "digest", "proxy", "cacert", "limit-rate", "checksum", "json", "include",
            "head", "verbose",
        ]
        for word in options.map({ "--\($0)" }) + ["NO_COLOR", "Ctrl-C", "130", " 2 ", " 1 ", " 0 ", ".partial"] {
            #expect(Options.help.contains(word))
        }
        #expect(Options.help.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }
}
