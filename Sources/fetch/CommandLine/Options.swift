import Deferred
import Foundation

/// The options and arguments of the command line.
struct Options: Equatable {
    /// The URLs as they were typed.
    var urls: [String] = []

    /// Files with lists of URLs; "-" is standard input.
    var inputs: [String] = []

    /// The output directory or file, or "-" for standard output; nil for the working directory, or for a temporary one in
    /// the demonstration.
    var output: String?

    /// The maximum number of concurrent downloads.
    var maximum = 4

    /// Header fields for every request.
    var headers = HTTPHeaders()

    /// The maximum number of retries for each file.
    var retries = 4

    /// The idle timeout: the longest silence of a server, in seconds.
    var timeout = 30.0

    /// The directory of the cache; nil for no cache.
    var cache: String?

    /// The method of every request; nil for POST with a body, and otherwise GET.
    var method: String?

    /// The body of every request, as it was typed.
    var body = RequestBody()

    var user: UserCredential?
    var isDigest = false

    /// The URL of the proxy; nil for that of the environment.
    var proxy: URL?

    /// The file of the trusted certificate authorities; nil for those of the system.
    var authorities: String?

    /// The highest rate of each download, in bytes a second.
    var rateLimit: Int?

    /// The checksum of the only file.
    var checksum: Checksum?

    var engine = URLClient.Configuration.Engine.automatic
    var isQuiet = false

    /// True for a line of JSON for each file.
    var isJSON = false

    /// True if the heads of responses are printed.
    var showsHead = false

    /// True if only the heads are asked for.
    var wantsHeadOnly = false

    /// True if the events of each request, and its times, are printed.
    var isVerbose = false

    /// True if the contents of the only file are printed.
    var printsContents: Bool { output == "-" }

    var savesFiles: Bool { !printsContents && !wantsHeadOnly }

    /// Returns true if a request may go through a proxy.
    func mayHaveProxy(environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return proxy != nil || names.contains { environment[$0] ?? "" != "" }
    }
}

/// A user name and a password.
struct UserCredential: Equatable {
    let name: String
    let password: String
}

/// An exit of the program before any download begins.
struct ProgramExit: Error, Equatable {
    /// With exit code 0, the output that was asked for. Otherwise one line that says what is wrong, with what value,
    /// and what would be right.
    let text: String
    var code: Int32 = 1

    static let help = ProgramExit(text: Options.help, code: 0)
    static let version = ProgramExit(text: "fetch 1.0.0\n", code: 0)

    /// Returns the exit for a command line that can't be understood.
    static func usage(_ text: String) -> ProgramExit { ProgramExit(text: text, code: 2) }
}
