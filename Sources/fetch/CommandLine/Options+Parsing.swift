import Deferred
import Foundation

extension Options {
    enum Request: Equatable {
        case help
        case version
        case download(Options)
    }

    /// Reads the arguments after the program's name, as GNU's programs do: `--name=value` and `--name value`, `-n4`, `-n 4`
    /// and `-qn4`, options also after URLs, and only URLs after `--`.
    static func parse(_ arguments: [String]) throws(ProgramError) -> Request {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let (name, attached) = split(argument)
            func value() throws(ProgramError) -> String {
                let value = attached ?? rest.popFirst()
                guard let value, !value.isEmpty else { throw .usage("the option \(name) needs a value") }
                // A forgotten value would otherwise swallow the next option.
                guard attached != nil || !value.hasPrefix("--") else {
                    throw .usage("the option \(name) needs a value, but \(quoted(value)) follows")
                }
                return value
            }
            switch name {
            case "-": options.inputs.append("-")
            case "--":
                options.urls += rest
                rest = []
            case "--help" where attached == nil, "-h": return .help
            case "--version" where attached == nil, "-V": return .version
            case "--quiet" where attached == nil: options.isQuiet = true
            case "-q":
                options.isQuiet = true
                if let attached { rest = ["-" + attached] + rest }
            case "--output", "-o": options.output = try value()
            case "--input", "-i": options.inputs.append(try value())
            case "--header", "-H": options.headers.fields.append(try header(value(), name))
            case "--max", "-n", "-m": options.maximum = try number(value(), name, in: 1...100)
            case "--retries": options.retries = try number(value(), name, in: 0...100)
            case "--timeout": options.timeout = try number(value(), name, in: 0.001...86_400)
            case "--engine": options.engine = try engine(value(), name)
            case _ where argument.hasPrefix("-"): throw .usage("unknown option \(quoted(argument))")
            default: options.urls.append(argument)
            }
        }
        return .download(options)
    }

    /// Takes `--name=value` and `-nvalue` apart. Equals signs in URLs mean nothing.
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
    ) throws(ProgramError) -> Number {
        if let number = Number(text), limits.contains(number) { return number }
        throw .usage("\(quoted(text)) after \(name) is not a number from \(limits.lowerBound) to \(limits.upperBound)")
    }

    private static func header(_ text: String, _ name: String) throws(ProgramError) -> HTTPHeaders.Field {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        if parts.count == 2, !parts[0].isEmpty { return HTTPHeaders.Field(name: parts[0], value: parts[1]) }
        // The text may be a secret, and isn't told.
        throw .usage("the text after \(name) is no name and value; write it like 'Name: value'")
    }

    private static func engine(
        _ text: String,
        _ name: String
    ) throws(ProgramError) -> URLClient.Configuration.Engine {
        if let engine = ["urlsession": .urlSession, "libcurl": .libcurl][text] as URLClient.Configuration.Engine? {
            return engine
        }
        throw .usage("\(quoted(text)) after \(name) is neither urlsession nor libcurl")
    }

    private static func quoted(_ text: String) -> String { "\"\(PrintableText.escaping(text))\"" }
}
