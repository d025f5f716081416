import Deferred

/// What the command line asks for.
struct Options: Equatable {
    /// As they were typed; a malformed one fails alone, while the others are downloaded.
    var urls: [String] = []

    /// Files with more of them; "-" is standard input.
    var inputs: [String] = []

    /// Where the files go; nil stands for the working directory, or for a temporary one in the demonstration.
    var output: String?

    /// How many files are downloaded at a time.
    var maximum = 4

    /// Lines for the head of every request.
    var headers = HTTPHeaders()

    /// How often a file is tried again.
    var retries = 4

    /// The longest silence of a server, in seconds.
    var timeout = 30.0

    var engine = URLClient.Configuration.Engine.urlSession
    var isQuiet = false
}

/// An end of the program before it begins.
struct ProgramExit: Error, Equatable {
    /// One line: what is wrong, with what value, and what would be right. Or with 0, what was asked for.
    let text: String
    var code: Int32 = 1

    static let help = ProgramExit(text: Options.help, code: 0)
    static let version = ProgramExit(text: "fetch 1.0.0\n", code: 0)

    /// A command line that can't be understood.
    static func usage(_ text: String) -> ProgramExit { ProgramExit(text: text, code: 2) }
}
