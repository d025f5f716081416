import Deferred
import Foundation

/// The values of options, each with what is wrong with it. Those that may contain a password are never quoted.
extension Options {
    static func number<Number: Comparable & LosslessStringConvertible>(
        _ text: String,
        _ name: String,
        in limits: ClosedRange<Number>
    ) throws(ProgramExit) -> Number {
        if let number = Number(text), limits.contains(number) { return number }
        throw .usage("\(quoted(text)) after \(name) is not a number from \(limits.lowerBound) to \(limits.upperBound)")
    }

    static func header(_ text: String, _ name: String) throws(ProgramExit) -> HTTPHeaders.Field {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        let isOneLine = !text.unicodeScalars.contains(where: PrintableText.isHarmful)
        if parts.count == 2, !parts[0].isEmpty, !text.hasPrefix(":"), isOneLine {
            return HTTPHeaders.Field(name: parts[0], value: parts[1])
        }
        // The text may be a secret, so it isn't printed.
        throw .usage("the text after \(name) is not a header; write it like 'Name: value'")
    }

    static func engine(_ text: String, _ name: String) throws(ProgramExit) -> URLClient.Configuration.Engine {
        let engines: [String: URLClient.Configuration.Engine] = [
            "automatic": .automatic, "urlsession": .urlSession, "libcurl": .libcurl,
        ]
        if let engine = engines[text] { return engine }
        throw .usage("\(quoted(text)) after \(name) is none of automatic, urlsession and libcurl")
    }

    static func method(_ text: String, _ name: String) throws(ProgramExit) -> String {
        let isMethod = text.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || $0 == UInt8(ascii: "-") }
        guard isMethod else { throw .usage("\(quoted(text)) after \(name) is not a method; write it like PUT") }
        guard text != "HEAD" else { throw .usage("HEAD after \(name) would save nothing; use --head") }
        return text
    }

    static func field(_ text: String, _ name: String) throws(ProgramExit) -> RequestBody.Field {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty else {
            throw .usage("the text after \(name) is not a field; write it like 'name=value' or 'name=@file'")
        }
        return RequestBody.Field(name: String(parts[0]), value: String(parts[1]))
    }

    static func user(_ text: String, _ name: String) throws(ProgramExit) -> UserCredential {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !text.unicodeScalars.contains(where: PrintableText.isHarmful) else {
            throw .usage("the text after \(name) is not a name and a password; write it like 'name:password'")
        }
        return UserCredential(name: String(parts[0]), password: String(parts[1]))
    }

    static func proxy(_ text: String, _ name: String) throws(ProgramExit) -> URL {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if let url = URL(string: text), schemes.contains(url.scheme ?? ""), url.host() ?? "" != "" { return url }
        throw .usage("the text after \(name) is not the URL of a proxy; write it like http://host:3128")
    }

    /// Parses a number of bytes, such as `1.5M`, in the decimal units that rates are shown in.
    static func rate(_ text: String, _ name: String) throws(ProgramExit) -> Int {
        let units: [Character: Double] = ["K": 1e3, "M": 1e6, "G": 1e9]
        let unit = text.uppercased().last.flatMap { units[$0] }
        if let number = Double(unit == nil ? text[...] : text.dropLast()), case 1..<1e15 = number * (unit ?? 1) {
            return Int(number * (unit ?? 1))
        }
        throw .usage("\(quoted(text)) after \(name) is not a number of bytes a second; write it like 500k or 1.5M")
    }

    static func checksum(_ text: String, _ name: String) throws(ProgramExit) -> Checksum {
        if let checksum = Checksum(text) { return checksum }
        throw .usage("\(quoted(text)) after \(name) is not a checksum; write it like sha256: and 64 hexadecimal digits")
    }

    static func quoted(_ text: String) -> String { "\"\(PrintableText.escaping(text))\"" }
}
