import Deferred

/// The options and arguments of the command line.
struct Options: Equatable {
    /// The URLs as they were typed. A malformed one fails alone; the others are downloaded.
    var urls: [String] = []

    /// Files with lists of URLs; "-" is standard input.
    var inputs: [String] = []

    /// The output directory; nil for the working directory, or for a temporary one in the demonstration.
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

    var engine = URLClient.Configuration.Engine.automatic
    var isQuiet = false
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
