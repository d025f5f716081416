/// What the command line asks for.
struct Options: Equatable {
    static let downloadLimits = 1...100

    /// As they were typed; a malformed one fails alone, while the others are downloaded.
    var urls: [String] = []

    /// Where the files go; nil stands for the working directory, or for a temporary one in the demonstration.
    var output: String?

    /// How many files are downloaded at a time.
    var maximum = 4
}

/// A command line that can't be understood.
struct UsageError: Error, Equatable, CustomStringConvertible {
    /// One line: what is wrong, with what value, and what would be right.
    let description: String
}
