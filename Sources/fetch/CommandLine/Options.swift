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

/// What ends the program before it begins.
struct ProgramError: Error, Equatable {
    /// One line: what is wrong, with what value, and what would be right.
    let line: String

    var exitCode: Int32 = 1

    /// A command line that can't be understood.
    static func usage(_ line: String) -> ProgramError { ProgramError(line: line, exitCode: 2) }
}
