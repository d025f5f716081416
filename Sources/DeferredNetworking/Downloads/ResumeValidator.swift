import Foundation

/// The validator of a partly downloaded file: shows whether the server's file is still the same.
struct ResumeValidator: Equatable {
    /// The value for `If-Range`: a strong entity tag, or a date that serves as one.
    let field: String

    /// The length of the whole file, if the server specified it.
    let total: Int64?

    /// The requested URL. Validators of different URLs can't be compared.
    let url: URL

    /// Creates the validator of a complete response, if it is strong: RFC 9110, sections 8.8.2.2 and 8.8.3.
    init?(from response: ResponseHead, total: Int64?, url: URL) {
        if let tag = response.value(of: "ETag") {
            // With a weak tag, the date is no stronger.
            guard Self.isStrongTag(tag) else { return nil }
            field = tag
        } else if let modified = response.value(of: "Last-Modified"),
            let date = response.value(of: "Date"),
            let modifiedSeconds = HTTPDate.seconds(modified),
            let dateSeconds = HTTPDate.seconds(date),
            dateSeconds - modifiedSeconds >= 1
        {
            field = modified
        } else {
            return nil
        }
        self.total = total
        self.url = url
    }

    /// Returns true if a response has the same validator: RFC 9110, section 15.3.7.3.
    func isSame(as response: ResponseHead) -> Bool { own(response) == field }

    /// Returns true if a response has another validator.
    func differs(from response: ResponseHead) -> Bool { own(response).map { $0 != field } ?? false }

    private func own(_ response: ResponseHead) -> String? {
        response.value(of: Self.isStrongTag(field) ? "ETag" : "Last-Modified")
    }

    /// Reads the result of ``contents``. Truncated or altered contents give nil.
    init?(contents: Data) {
        let lines = String(decoding: contents, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        guard lines.count == 4, lines[3].isEmpty, let url = URL(string: String(lines[2])) else { return nil }
        let field = String(lines[0])
        let total = HTTPNumber.parse(lines[1])
        guard Self.isStrongTag(field) || HTTPDate.seconds(field) != nil, total != nil || lines[1] == "*" else {
            return nil
        }
        self.field = field
        self.total = total
        self.url = url
    }

    var contents: Data { Data("\(field)\n\(total.map(String.init) ?? "*")\n\(url.absoluteString)\n".utf8) }

    private static func isStrongTag(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        return bytes.count >= 2 && bytes.first == UInt8(ascii: "\"") && bytes.last == UInt8(ascii: "\"")
            && bytes.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }
    }
}
