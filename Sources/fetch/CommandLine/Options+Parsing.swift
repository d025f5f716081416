import Deferred
import Foundation

extension Options {
    /// Parses and checks a command line, which begins with the program's name.
    init(commandLine: [String]) throws(ProgramExit) {
        // On Linux, Swift reads it from /proc, without which Foundation would end the process later.
        guard !commandLine.isEmpty else {
            throw ProgramExit(text: "cannot read the command line from /proc; mount it with: mount -t proc proc /proc")
        }
        try self.init(Array(commandLine.dropFirst()))
        try check()
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
                    throw .usage("the option \(name) needs a value, but \(Self.quoted(name: value)) follows")
                }
                return value
            }
            // Several letters in one argument.
            if ["-q", "-v", "-I"].contains(name), let attached { rest = ["-" + attached] + rest }
            switch name {
            case "-": inputs.append("-")
            case "--":
                urls += rest
                rest = []
            case "--help" where attached == nil, "-h": throw .help
            case "--version" where attached == nil, "-V": throw .version
            case "--quiet" where attached == nil, "-q": isQuiet = true
            case "--verbose" where attached == nil, "-v": isVerbose = true
            case "--head" where attached == nil, "-I": wantsHeadOnly = true
            case "--json" where attached == nil: isJSON = true
            case "--include" where attached == nil: showsHead = true
            case "--digest" where attached == nil: isDigest = true
            case "--output", "-o": output = try value()
            case "--input", "-i": inputs.append(try value())
            case "--header", "-H": headers.fields.append(try Self.header(value(), name))
            case "--max", "-n", "-m": maximum = try Self.number(value(), name, in: 1...100)
            case "--retries": retries = try Self.number(value(), name, in: 0...100)
            case "--timeout": timeout = try Self.number(value(), name, in: 0.001...86_400)
            case "--cache": cache = try value()
            case "--request", "-X": method = try Self.method(value(), name)
            case "--data", "-d": body.data.append(try value())
            case "--form": body.form.append(try Self.field(value(), name))
            case "--user", "-u": user = try Self.user(value(), name)
            case "--proxy": proxy = try Self.proxy(value(), name)
            case "--cacert": authorities = try value()
            case "--limit-rate": rateLimit = try Self.rate(value(), name)
            case "--checksum": checksum = try Self.checksum(value(), name)
            case "--engine": engine = try Self.engine(value(), name)
            case _ where argument.hasPrefix("-"): throw .usage("unknown option \(Self.quoted(name: argument))")
            default: urls.append(argument)
            }
        }
    }

    /// Returns an option in quotes, without the value after "=", which may be a password.
    private static func quoted(name argument: String) -> String {
        guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else { return quoted(argument) }
        return quoted("\(argument[..<equals])=…")
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
}
