import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What tells whether the rest of a file on the server still belongs to the part that is already here.
struct ResumeValidator: Equatable {
    /// The value for `If-Range`: a strong entity tag, or a date that is as good as one.
    let field: String

    /// The length of the whole file, when the server told it.
    let total: Int64?

    /// What was asked for. Validators of different URLs have nothing to do with each other.
    let url: URL

    /// The validator of a complete response, if it is strong: RFC 9110, sections 8.8.2.2 and 8.8.3.
    init?(from response: HTTPURLResponse, total: Int64?, url: URL) {
        if let tag = response.value(forHTTPHeaderField: "ETag") {
            // A weak tag says that the dates mean no more than it does.
            guard Self.isStrongTag(tag) else { return nil }
            field = tag
        } else if let modified = response.value(forHTTPHeaderField: "Last-Modified"),
            let date = response.value(forHTTPHeaderField: "Date"),
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

    /// Whether a part of a response belongs to the same file, as far as its own validators tell.
    func isSame(as response: HTTPURLResponse) -> Bool {
        let own = response.value(forHTTPHeaderField: Self.isStrongTag(field) ? "ETag" : "Last-Modified")
        return own == nil || own == field
    }

    /// Reads what ``contents`` wrote. Anything cut off or altered is no validator.
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
