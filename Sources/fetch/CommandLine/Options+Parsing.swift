extension Options {
    enum Request: Equatable {
        case help
        case download(Options)
    }

    /// Reads the arguments after the program's name.
    static func parse(_ arguments: [String]) throws(UsageError) -> Request {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let (name, attached) = split(argument)
            switch name {
            case "--help", "-h":
                return .help
            case "--output", "-o":
                options.output = try directory(value(of: name, attached, &rest))
            case "--max", "-m":
                options.maximum = try maximum(value(of: name, attached, &rest))
            case "--":
                options.urls += rest
                rest = []
            case _ where name.hasPrefix("-"):
                throw UsageError(description: "unknown option \(quoted(argument))")
            default:
                options.urls.append(argument)
            }
        }
        return .download(options)
    }

    /// Takes `--name=value` apart. Equals signs in URLs mean nothing.
    private static func split(_ argument: String) -> (name: String, value: String?) {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
        return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }

    private static func value(
        of name: String,
        _ attached: String?,
        _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> String {
        if let attached { return attached }
        guard let next = rest.popFirst() else {
            throw UsageError(description: "the option \(name) needs a value after it")
        }
        // A forgotten value would otherwise swallow the next option.
        guard !next.hasPrefix("--") else {
            throw UsageError(description: "the option \(name) needs a value, but \(quoted(next)) follows")
        }
        return next
    }

    private static func directory(_ text: String) throws(UsageError) -> String {
        guard !text.isEmpty else {
            throw UsageError(description: "the directory after --output is empty; use \".\" for the current one")
        }
        return text
    }

    private static func maximum(_ text: String) throws(UsageError) -> Int {
        guard let number = Int(text), downloadLimits.contains(number) else {
            let (least, most) = (downloadLimits.lowerBound, downloadLimits.upperBound)
            throw UsageError(description: "\(quoted(text)) after --max is not a number from \(least) to \(most)")
        }
        return number
    }

    private static func quoted(_ text: String) -> String { "\"\(PrintableText.escaping(text))\"" }
}
