import Deferred
import Foundation

extension Options {
    /// Parses a command line, which begins with the program's name.
    init(commandLine: [String]) throws(ProgramExit) {
        // On Linux, Swift reads it from /proc, without which Foundation would end the process later.
        guard !commandLine.isEmpty else {
            throw ProgramExit(text: "cannot read the command line from /proc; mount it with: mount -t proc proc /proc")
        }
        try self.init(Array(commandLine.dropFirst()))
    }

    /// Parses the arguments after the program's name like GNU programs: `--max=4` and `--max 4`, `-n4` and `-n 4`,
    /// several letters in one argument, options also after URLs, and only URLs after `--`.
    init(_ arguments: [String]) throws(ProgramExit) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let (name, attached) = Self.split(argument)
            func value() throws(ProgramExit) -> String {
                let value = attached ?? rest.popFirst()
                guard let value, !value.isEmpty else { throw .usage("the option \(name) needs a value") }
                // Otherwise the next option would be taken for a forgotten value.
                guard attached != nil || !value.hasPrefix("--") else {
                    throw .usage("the option \(name) needs a value, but \(Self.quoted(value)) follows")
                }
                return value
            }
            switch name {
            case "-": inputs.append("-")
            case "--":
                urls += rest
                rest = []
            case "--help" where attached == nil, "-h": throw .help
            case "--version" where attached == nil, "-V": throw .version
            case "--quiet" where attached == nil: isQuiet = true
            case "-q":
                isQuiet = true
                if let attached { rest = ["-" + attached] + rest }
            case "--output", "-o": output = try value()
            case "--input", "-i": inputs.append(try value())
            case "--header", "-H": headers.fields.append(try Self.header(value(), name))
            case "--max", "-n", "-m": maximum = try Self.number(value(), name, in: 1...100)
            case "--retries": retries = try Self.number(value(), name, in: 0...100)
            case "--timeout": timeout = try Self.number(value(), name, in: 0.001...86_400)
            case "--cache": cache = try value()
            case "--engine": engine = try Self.engine(value(), name)
            case _ where argument.hasPrefix("-"): throw .usage("unknown option \(Self.quoted(argument))")
            default: urls.append(argument)
            }
        }
    }

    /// Splits `--max=4` and `-n4` into name and value. Equals signs in URLs have no meaning.
    private static func split(_ argument: String) -> (name: String, value: String?) {
        if argument.hasPrefix("--") {
            guard let equals = argument.firstIndex(of: "=") else { return (argument, nil) }
            return (String(argument[..<equals]), String(argument[equals...].dropFirst()))
        }
        guard argument.hasPrefix("-"), argument.count > 2 else { return (argument, nil) }
        return (String(argument.prefix(2)), String(argument.dropFirst(2)))
    }

    private static func number<Number: Comparable & LosslessStringConvertible>(
        _ text: String,
        _ name: String,
        in limits: ClosedRange<Number>
    ) throws(ProgramExit) -> Number {
        if let number = Number(text), limits.contains(number) { return number }
        throw .usage("\(quoted(text)) after \(name) is not a number from \(limits.lowerBound) to \(limits.upperBound)")
    }

    private static func header(_ text: String, _ name: String) throws(ProgramExit) -> HTTPHeaders.Field {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        let isOneLine = !text.unicodeScalars.contains(where: PrintableText.isHarmful)
        if parts.count == 2, isOneLine { return HTTPHeaders.Field(name: parts[0], value: parts[1]) }
        // The text may be a secret, so it isn't printed.
        throw .usage("the text after \(name) is not a header; write it like 'Name: value'")
    }

    private static func engine(_ text: String, _ name: String) throws(ProgramExit) -> URLClient.Configuration.Engine {
        let engines: [String: URLClient.Configuration.Engine] = [
            "automatic": .automatic, "urlsession": .urlSession, "libcurl": .libcurl,
        ]
        if let engine = engines[text] { return engine }
        throw .usage("\(quoted(text)) after \(name) is none of automatic, urlsession and libcurl")
    }

    private static func quoted(_ text: String) -> String { "\"\(PrintableText.escaping(text))\"" }
}
