/// A way in which a server wants a request to be authenticated, from its field `WWW-Authenticate`: RFC 9110, section 11.3.
///
/// ```swift
/// // WWW-Authenticate: Bearer realm="https://auth.example/token",scope="repository:app:pull", Basic realm="api"
/// let bearer = head.challenges.first { $0.isOf("Bearer") }
/// let (realm, scope) = (bearer?["realm"], bearer?["scope"])
/// ```
public struct AuthenticationChallenge: Sendable, Hashable {
    /// A parameter, its value without quotation marks.
    package struct Parameter: Sendable, Hashable {
        /// The name as it was sent; names are compared without regard to case.
        package let name: String
        package let value: String
    }

    /// The scheme as it was sent, such as `Bearer`. See ``isOf(_:)``.
    public let scheme: String

    /// The token behind the scheme, in the place of parameters, as `Negotiate` has it; `nil` for none.
    public let token: String?

    /// The parameters, in order.
    package let parameters: [Parameter]

    /// Creates a challenge, for a test of what answers it.
    public init(scheme: String, token: String? = nil, parameters: KeyValuePairs<String, String> = [:]) {
        self.init(scheme, token, parameters.map { Parameter(name: $0.key, value: $0.value) })
    }

    fileprivate init(_ scheme: String, _ token: String?, _ parameters: [Parameter]) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// Returns true if this is the scheme, whatever its case.
    public func isOf(_ scheme: String) -> Bool { HTTPToken.areEqualWithoutCase(self.scheme, scheme) }

    /// The value of the first parameter with this name, whatever its case.
    public subscript(name: String) -> String? {
        parameters.first { HTTPToken.areEqualWithoutCase($0.name, name) }?.value
    }

    /// Returns the challenges in a response's fields `WWW-Authenticate`, in order: RFC 9110, section 11.6.1.
    ///
    /// What is malformed is left out, up to the next comma.
    public static func challenges(in headers: HTTPHeaders) -> [AuthenticationChallenge] {
        headers.values(for: "WWW-Authenticate").flatMap { field in
            var parser = Parser(rest: field[...])
            return parser.challenges()
        }
    }
}

extension ResponseHead {
    /// The ways in which the server wants the request to be authenticated, in order of its preference.
    public var challenges: [AuthenticationChallenge] { AuthenticationChallenge.challenges(in: headers) }
}

/// Reads one field. Commas separate challenges as well as their parameters; a name before an equals sign is a parameter's.
private struct Parser {
    var rest: Substring

    mutating func challenges() -> [AuthenticationChallenge] {
        var result: [AuthenticationChallenge] = []
        while skip(" \t,"), !rest.isEmpty {
            // A parameter with no scheme before it belongs to a scheme that was malformed.
            guard let scheme = readName(), rest.isEmpty || " \t,".contains(rest.first ?? " ") else {
                skipToComma()
                continue
            }
            _ = skip(" \t")
            let token = readToken()
            result.append(AuthenticationChallenge(scheme, token, token == nil ? readParameters() : []))
        }
        return result
    }

    /// Reads parameters up to the next scheme.
    private mutating func readParameters() -> [AuthenticationChallenge.Parameter] {
        var parameters: [AuthenticationChallenge.Parameter] = []
        while true {
            let start = rest
            _ = skip(" \t,")
            guard let name = readName(), skip(" \t"), rest.first == "=" else {
                rest = start
                // Neither a parameter nor, after a comma, a scheme.
                if let first = start.first, first != "," { skipToComma() }
                return parameters
            }
            rest = rest.dropFirst()
            _ = skip(" \t")
            let value = rest.first == "\"" ? FieldList.readQuoted(&rest) : readName()
            if let value, skip(" \t"), rest.first ?? "," == "," {
                parameters.append(.init(name: name, value: value))
            } else {
                skipToComma()
            }
        }
    }

    /// Reads what RFC 9110 calls token68, if it is one, and not the beginning of a parameter.
    private mutating func readToken() -> String? {
        let body = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~+/".contains($0)) }
        let after = rest[body.endIndex...].drop { $0 == "=" }
        let end = after.drop { $0 == " " || $0 == "\t" }
        guard !body.isEmpty, end.first ?? "," == "," else { return nil }
        let token = String(rest[..<after.startIndex])
        rest = end
        return token
    }

    private mutating func readName() -> String? {
        let name = String(rest.prefix { HTTPToken.isValid(String($0)) })
        rest = rest.dropFirst(name.count)
        return name.isEmpty ? nil : name
    }

    private mutating func skipToComma() {
        while let first = rest.first, first != "," {
            if first == "\"" { _ = FieldList.readQuoted(&rest) } else { rest = rest.dropFirst() }
        }
    }

    /// Skips these characters, and returns true.
    private mutating func skip(_ characters: String) -> Bool {
        rest = rest.drop { characters.contains($0) }
        return true
    }
}
