/// The grammar of a request's parts: RFC 9110, sections 4.2, 5.5 and 9.1.
package enum RequestGrammar {
    package static func check(method: String) throws(URLClientError) {
        guard method == "GET" || HTTPToken.isValid(method) else {
            throw .invalidRequest(
                reason: "the method \(DisplayText.quoted(method)) is not a token; use letters only, such as \"POST\""
            )
        }
    }

    package static func check(fieldNamed name: String, value: String) throws(URLClientError) {
        guard HTTPToken.isValid(name) else {
            throw .invalidRequest(
                reason: "the header name \(DisplayText.quoted(name)) is not a token; "
                    + "use letters, digits and hyphens only"
            )
        }
        // The value may be a secret, so the error only names the field.
        guard isFieldValue(value) else {
            throw .invalidRequest(
                reason: "the value of the header \(DisplayText.quoted(name)) contains control characters, "
                    + "such as a line break; remove them"
            )
        }
    }

    /// - Parameter url: shown in the error, and evaluated only then.
    package static func check(scheme: String, of url: @autoclosure () -> String? = nil) throws(URLClientError) {
        if scheme == "https" || scheme == "http" { return }
        guard ["http", "https"].contains(scheme.lowercased()) else {
            let place = url().map { " of " + $0 } ?? ""
            throw .invalidRequest(
                reason: "the scheme \(DisplayText.quoted(scheme))\(place) is not http or https; "
                    + "use \"https\", as in \"https://host/path\""
            )
        }
    }

    package static func check(port: Int?, of url: @autoclosure () -> String? = nil) throws(URLClientError) {
        if let port, !(1...65_535).contains(port) {
            let place = url().map { " of " + $0 } ?? ""
            throw .invalidRequest(reason: "the port \(port)\(place) is out of range; use 1 to 65535")
        }
    }

    /// Returns true if `value` is a valid field value, without characters that could end it or smuggle in another
    /// field.
    private static func isFieldValue(_ value: String) -> Bool {
        value.withBytes { $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }
    }
}
